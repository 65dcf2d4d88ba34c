//! Which proxy the requests to an address go through.

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use secrecy::ExposeSecret as _;
use url::Url;

use crate::config::Settings;
use crate::config::url::BaseUrl;

/// A proxy, without its user name and password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Host and port.
    pub address: String,
    /// Whether its URL has a user name or a password.
    pub has_login: bool,
}

/// The proxy of these settings.
pub fn of_settings(settings: &Settings) -> Option<Proxy> {
    let wire = &settings.wire;
    let Some(proxy) = &wire.proxy else {
        return if wire.trust_env {
            of_environment(&settings.base_url)
        } else {
            None
        };
    };
    let url = Url::parse(proxy.expose_secret()).ok()?;
    Some(Proxy {
        address: format!("{}:{}", url.host()?, url.port_or_known_default()?),
        has_login: !url.username().is_empty() || url.password().is_some(),
    })
}

/// The environment's proxy, which is never used for loopback. It is found as the transport finds it.
pub fn of_environment(base: &BaseUrl) -> Option<Proxy> {
    let uri: Uri = base.as_str().parse().ok().filter(|_| !base.is_loopback())?;
    let proxy = Matcher::from_system().intercept(&uri)?;
    let (host, port) = (proxy.uri().host()?, proxy.uri().port_u16());
    let port = port.unwrap_or(if proxy.uri().scheme_str() == Some("https") {
        443
    } else {
        80
    });
    Some(Proxy {
        address: format!("{host}:{port}"),
        has_login: proxy.basic_auth().is_some(),
    })
}
