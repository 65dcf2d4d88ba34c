//! Which proxy the requests to an address go through.

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use secrecy::ExposeSecret as _;
use url::Url;

use crate::config::Settings;
use crate::config::url::BaseUrl;
use crate::error::{Error, Result};
use crate::text::message::{Advice, message};

/// A proxy as texts name it.
pub struct ProxyAddress {
    /// Host and port.
    pub address: String,
    /// Whether its URL has a user name and password.
    pub has_login: bool,
    /// The argument or the variable that names it; `None` for the system's own settings.
    pub from: Option<String>,
}

/// The proxy of these settings. An environment's proxy that cannot be used is an error.
pub fn of_settings(settings: &Settings) -> Result<Option<ProxyAddress>> {
    match &settings.wire.proxy {
        Some(proxy) => Ok(of_argument(proxy.expose_secret())),
        None if settings.wire.trust_env => of_environment(&settings.base_url),
        None => Ok(None),
    }
}

/// The same, of the environment's proxy, which is never used for loopback. It is found as the
/// transport finds it.
pub fn of_environment(base: &BaseUrl) -> Result<Option<ProxyAddress>> {
    let uri: Option<Uri> = base.as_str().parse().ok();
    let Some(uri) = uri.filter(|_| !base.is_loopback()) else {
        return Ok(None);
    };
    let from = checked_variable(&uri)?;
    let proxy = Matcher::from_system().intercept(&uri);
    Ok(proxy.and_then(|proxy| of_match(&proxy, from)))
}

/// The variable that names the proxy. It is checked here, because the transport leaves out a proxy
/// that it cannot use, and says nothing.
fn checked_variable(uri: &Uri) -> Result<Option<String>> {
    let (_, no_proxy) = variable("NO_PROXY");
    let used = |url: &str| {
        let matcher = Matcher::builder().all(url).no(no_proxy.as_str()).build();
        matcher.intercept(uri)
    };
    // Under CGI, `HTTP_PROXY` may be a header of a stranger's request: the transport reads no
    // variable there.
    if std::env::var_os("REQUEST_METHOD").is_some() || used("http://any").is_none() {
        return Ok(None);
    }
    let own = match uri.scheme_str() {
        Some("https") => "HTTPS_PROXY",
        _ => "HTTP_PROXY",
    };
    let named = [own, "ALL_PROXY"].map(variable);
    let Some((name, url)) = named.into_iter().find(|(_, url)| !url.is_empty()) else {
        return Ok(None);
    };
    let whole = match url.contains("://") {
        true => url.clone(),
        false => format!("http://{url}"),
    };
    // A `#`, `?` or `/` in a password ends the host for the transport, which would then show a part
    // of the password as its port.
    let is_plain = |url: &Url| url.path().len() <= 1 && url.query().or(url.fragment()).is_none();
    let proxy = used(&url).filter(|_| Url::parse(&whole).is_ok_and(|url| is_plain(&url)));
    let why = match proxy.as_ref().map(|proxy| proxy.uri().scheme_str()) {
        Some(Some("http" | "https")) => return Ok(Some(name)),
        Some(kind) => {
            let kind = kind.unwrap_or_default();
            format!("names a proxy of a kind that is not supported ({kind})")
        }
        None => "is not the URL of a proxy".to_owned(),
    };
    let why = format!("the environment's {name} {why}");
    Err(Error::configuration(message![
        why,
        Advice::SupportedProxy {}
    ]))
}

/// The name and value of a variable as the transport reads it: in small letters, if it is not there
/// in capitals.
fn variable(name: &str) -> (String, String) {
    let names = [name.to_owned(), name.to_ascii_lowercase()];
    let found = names.map(|name| std::env::var(&name).map(|value| (name, value)));
    found.into_iter().find_map(Result::ok).unwrap_or_default()
}

fn of_argument(url: &str) -> Option<ProxyAddress> {
    let url = Url::parse(url).ok()?;
    Some(ProxyAddress {
        address: format!("{}:{}", url.host()?, url.port_or_known_default()?),
        has_login: !url.username().is_empty(),
        from: Some("proxy=".to_owned()),
    })
}

fn of_match(proxy: &Intercept, from: Option<String>) -> Option<ProxyAddress> {
    let host = proxy.uri().host()?;
    let port = proxy.uri().port_u16();
    let port = port.unwrap_or(match proxy.uri().scheme_str() {
        Some("https") => 443,
        _ => 80,
    });
    Some(ProxyAddress {
        address: format!("{host}:{port}"),
        has_login: proxy.basic_auth().is_some(),
        from,
    })
}
