//! Which proxy the requests to an address go through.

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use secrecy::ExposeSecret as _;
use url::Url;

use crate::config::Settings;
use crate::config::url::BaseUrl;

/// A proxy as texts name it.
pub struct ProxyAddress {
    /// Host and port.
    pub address: String,
    /// Whether its URL has a user name and password.
    pub has_login: bool,
}

/// The proxy of these settings.
pub fn of_settings(settings: &Settings) -> Option<ProxyAddress> {
    let wire = &settings.wire;
    let Some(proxy) = &wire.proxy else {
        let base_url = Some(&settings.base_url).filter(|_| wire.trust_env);
        return base_url.and_then(of_environment);
    };
    let url = Url::parse(proxy.expose_secret()).ok()?;
    Some(ProxyAddress {
        address: format!("{}:{}", url.host()?, url.port_or_known_default()?),
        has_login: !url.username().is_empty(),
    })
}

/// The same, of the environment's proxy, which is never used for loopback. It is found as the transport finds it.
pub fn of_environment(base: &BaseUrl) -> Option<ProxyAddress> {
    let uri: Uri = base.as_str().parse().ok().filter(|_| !base.is_loopback())?;
    let proxy = Matcher::from_system().intercept(&uri)?;
    let host = proxy.uri().host()?;
    let port = proxy.uri().port_u16();
    let port = port.unwrap_or(match proxy.uri().scheme_str() {
        Some("https") => 443,
        _ => 80,
    });
    Some(ProxyAddress {
        address: format!("{host}:{port}"),
        has_login: proxy.basic_auth().is_some(),
    })
}
