//! The extra headers that a user may give.

use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::error::{Error, Result, refuse};

/// Headers that only the client itself may set.
const RESERVED_HEADERS: [&str; 13] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Checks them; their values are marked sensitive.
pub(super) fn headers(given: &[(String, SecretString)]) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in given {
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            Error::argument(format!("headers: {name:?} is not a valid header name"))
        })?;
        if RESERVED_HEADERS.contains(&header.as_str()) {
            return refuse(format!(
                "headers: {header} cannot be given, because the client controls it: leave it out"
            ));
        }
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| {
            Error::argument(format!(
                "headers: the value of {header} has characters that a header cannot have"
            ))
        })?;
        value.set_sensitive(true);
        map.append(header, value);
    }
    Ok(map)
}
