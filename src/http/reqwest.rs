//! The transport with reqwest, with its own retries and redirects switched off.
//!
//! Each write has a new connection, because an idle one that the server is closing would make its
//! outcome unknown. Reads use a pool.

use std::error::Error as StdError;
use std::io::{self, ErrorKind, Read as _};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Once};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Method;
use hyper::body::{Frame, SizeHint};
use rustls::{AlertDescription, CertificateError};
use secrecy::ExposeSecret as _;

use crate::config::Settings;
use crate::error::{Error, Result};
use crate::http::proxy::{self, ProxyAddress};
use crate::http::{Body, Departure, Incoming, MAX_READS, Outgoing, SendError, Transport};
use crate::text::io_words;
use crate::text::message::{Advice, Message, Setting, message};

/// The same for everyone who gives none, so that it reveals no user, host, path or platform.
const USER_AGENT: &str = concat!("docplatform/", env!("CARGO_PKG_VERSION"));
/// How long an unused connection for reads is kept.
const MAX_IDLE_CONNECTION: Duration = Duration::from_secs(15);
/// hyper-util's text for a proxy that asks for credentials; its errors have no public type.
const PROXY_407: &str = "tunnel error: proxy authorization required";
/// The most bytes of a CA bundle that are read. A system's bundle has about 200 KiB.
const MAX_CA_BUNDLE: u64 = 16 * 1024 * 1024;
/// How long a peer may not answer at the TCP level before the connection is closed. Elsewhere than
/// on Linux and Android, probes begin after it.
const MAX_HALF_OPEN: Duration = Duration::from_secs(30);

/// The connections of one client and its handles.
pub struct HttpTransport {
    reads: reqwest::Client,
    writes: reqwest::Client,
    proxy: Option<ProxyAddress>,
}

impl HttpTransport {
    /// Builds the connections; reads the CA bundle and the system's trust store, sends nothing.
    pub fn new(settings: &Settings) -> Result<Arc<Self>> {
        static PROVIDER: Once = Once::new();
        // An error only means that the provider is installed already.
        PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        Ok(Arc::new(Self {
            reads: build(settings, MAX_READS)?,
            writes: build(settings, 0)?,
            proxy: proxy::of_settings(settings)?,
        }))
    }
}

fn build(settings: &Settings, idle_connections: usize) -> Result<reqwest::Client> {
    let (base, wire) = (&settings.base_url, &settings.wire);
    let localhost = [
        (Ipv4Addr::LOCALHOST, 0).into(),
        (Ipv6Addr::LOCALHOST, 0).into(),
    ];
    let mut builder = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .http1_only()
        .https_only(base.is_https())
        .connect_timeout(wire.connect_timeout)
        .pool_max_idle_per_host(idle_connections)
        .pool_idle_timeout(MAX_IDLE_CONNECTION)
        .tcp_nodelay(true)
        .tcp_keepalive(MAX_HALF_OPEN)
        // `localhost` must not depend on a resolver that could send it elsewhere.
        .resolve_to_addrs("localhost", &localhost);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        builder = builder.tcp_user_timeout(MAX_HALF_OPEN);
    }

    let mut tls = base.is_https();
    if let Some(proxy) = &wire.proxy {
        let url = proxy.expose_secret();
        let fail = |why| Error::configuration(message![Setting::Proxy, why]);
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(fail(" must start with http:// or https://"));
        }
        tls |= url.starts_with("https://");
        let proxy = reqwest::Proxy::all(url);
        builder = builder.proxy(proxy.map_err(|_| fail(" is not a URL that can be used"))?);
    } else if !wire.trust_env || base.is_loopback() {
        builder = builder.no_proxy();
    }

    if let Some(path) = &wire.ca_bundle {
        let fail = |why: &str| {
            let file = format!(" {}: {why}", path.display());
            Error::configuration(message![Setting::CaBundle, file])
        };
        let mut pem = Vec::new();
        // One byte more shows that a file is too long or endless.
        std::fs::File::open(path)
            .and_then(|file| file.take(MAX_CA_BUNDLE + 1).read_to_end(&mut pem))
            .map_err(|error| fail(&io_words(&error)))?;
        if pem.len() as u64 > MAX_CA_BUNDLE {
            let why = format!("it is longer than {} MiB", MAX_CA_BUNDLE >> 20);
            return Err(fail(&why));
        }
        // Editors of Windows put a byte order mark in front.
        let pem = pem.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&pem);
        let certificates = reqwest::Certificate::from_pem_bundle(pem)
            .ok()
            .filter(|found| !found.is_empty())
            .ok_or_else(|| fail("no PEM certificate in it"))?;
        builder = builder.tls_certs_merge(certificates);
    } else if !tls {
        // Plain http needs no trust store, and must work on machines that have none.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| {
        let root = root_cause(&error);
        if let Some(path) = &wire.ca_bundle {
            let file = format!(
                " {}: a certificate in it cannot be used ({root}): replace it",
                path.display()
            );
            return Error::configuration(message![Setting::CaBundle, file]);
        }
        // The system's authorities cannot be read. If one of these variables is set, they are
        // looked for there. An empty value counts as set, and names no file.
        let is_set = |name: &&str| std::env::var_os(name).is_some();
        let advice = match ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().find(is_set) {
            None => "install the system's CA certificates".to_owned(),
            Some(name) => {
                format!("{name} replaces the system's CA certificates: correct or unset it")
            }
        };
        let why = format!("TLS cannot be set up ({root}); {advice}, or pass ");
        Error::configuration(message![why, Setting::CaBundle.argument()])
    })
}

impl Transport for HttpTransport {
    fn send(
        &self,
        request: Outgoing,
        departure: Departure,
    ) -> BoxFuture<'_, Result<Incoming, SendError>> {
        let Outgoing {
            method,
            url,
            headers,
            body,
        } = request;
        let client = match method {
            Method::GET => &self.reads,
            _ => &self.writes,
        };
        let body = Cargo {
            data: body.filter(|body| !body.is_empty()),
            departure,
        };
        let request = client
            .request(method, url)
            .headers(headers)
            .body(reqwest::Body::wrap(body));
        async move {
            let response = request.send().await;
            let response = response.map_err(|error| classify(&error, self.proxy.as_ref()))?;
            Ok(Incoming {
                status: response.status(),
                headers: response.headers().clone(),
                body: Box::new(response),
            })
        }
        .boxed()
    }
}

/// A request's body. hyper asks the body for its end or its data before it writes the head, so the
/// request leaves then.
struct Cargo {
    data: Option<Bytes>,
    departure: Departure,
}

impl hyper::body::Body for Cargo {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(match self.departure.leave() {
            true => self.data.take().map(|data| Ok(Frame::data(data))),
            // An error here closes the connection, with the head unwritten.
            false => Some(Err("given up before it was written")),
        })
    }

    fn is_end_stream(&self) -> bool {
        // A request that was given up claims to have a body, so that hyper polls it and fails
        // before it writes the head.
        self.departure.leave() && self.data.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.departure.is_withdrawn() {
            true => SizeHint::default(),
            false => SizeHint::with_exact(self.data.as_ref().map_or(0, |data| data.len() as u64)),
        }
    }
}

impl Body for reqwest::Response {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, String>> {
        async { Self::chunk(self).await.map_err(|error| words(&error)) }.boxed()
    }
}

/// Whether a byte was written. Only three things prove that none was: no request could be made of
/// it, the connection was never made, or hyper's *outermost* error says that it gave the request
/// back. A TLS error proves nothing, because TLS can also fail after the request was sent.
fn classify(error: &reqwest::Error, proxy: Option<&ProxyAddress>) -> SendError {
    if error.is_connect() || error.is_builder() {
        let tls = find::<rustls::Error>(error);
        let reason = proxy.and_then(|proxy| proxy_words(error, proxy));
        let reason = reason.unwrap_or_else(|| {
            let mut reason = tls.map_or_else(|| connect_words(error), tls_words);
            if let Some(proxy) = proxy {
                reason.push(format!(" (through the proxy {})", proxy.address));
                if tls.is_none() && reason.advice().is_none() {
                    let from = proxy.from.clone();
                    reason.push(Advice::CheckProxy { from });
                }
            }
            reason
        });
        let root = root_cause(error);
        let fatal = tls.is_some() || error.is_builder() || root == PROXY_407;
        return SendError::Unsent { reason, fatal };
    }
    if find::<hyper::Error>(error).is_some_and(hyper::Error::is_canceled) {
        return SendError::Unsent {
            reason: "the connection closed before the request was written".into(),
            fatal: false,
        };
    }
    SendError::Ambiguous {
        reason: words(error).into(),
    }
}

/// An error and its causes, the outermost first. An `io::Error` does not report its inner error as
/// `source`, so look inside.
fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let io = error.downcast_ref::<io::Error>();
        match io.and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        }
    })
}

/// The outermost error of type `T` in the chain.
fn find<T: StdError + 'static>(error: &reqwest::Error) -> Option<&T> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// The kind of the innermost `io::Error`: its wrappers have no kind of their own.
fn io_kind(error: &reqwest::Error) -> Option<ErrorKind> {
    let all = chain(error).filter_map(|error| error.downcast_ref::<io::Error>());
    all.last().map(io::Error::kind)
}

fn root_cause(error: &reqwest::Error) -> String {
    chain(error)
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn connect_words(error: &reqwest::Error) -> Message {
    if error.is_timeout() {
        return message!["no connection within ", Setting::ConnectTimeout];
    }
    let root = root_cause(error);
    if error.is_dns() {
        return format!("the host name could not be resolved ({root})").into();
    }
    let why = match io_kind(error) {
        Some(ErrorKind::ConnectionRefused) => "connection refused",
        Some(ErrorKind::ConnectionReset) => "the connection was reset before it was ready",
        Some(ErrorKind::UnexpectedEof) => "the connection closed before it was ready",
        _ => return root.into(),
    };
    why.into()
}

/// The words for a fault of the proxy: with a proxy, DNS and connection errors concern the proxy.
fn proxy_words(error: &reqwest::Error, proxy: &ProxyAddress) -> Option<Message> {
    let ProxyAddress {
        address: proxy,
        has_login,
        from,
    } = proxy;
    let from = from.clone();
    let root = root_cause(error);
    let (why, advice) = match root.as_str() {
        _ if error.is_dns() => (
            format!("the host name of the proxy {proxy} could not be resolved ({root})"),
            Advice::CheckProxy { from },
        ),
        _ if io_kind(error) == Some(ErrorKind::ConnectionRefused) => (
            format!("the proxy {proxy} refused the connection"),
            Advice::CheckProxy { from },
        ),
        PROXY_407 if *has_login => (
            format!("the proxy {proxy} refuses the user name or password of its URL (407)"),
            Advice::CheckProxy { from },
        ),
        PROXY_407 => (
            format!("the proxy {proxy} asks for a user name and password (407)"),
            Advice::ProxyLogin { from },
        ),
        _ => {
            let why = match root.strip_prefix("tunnel error: ")? {
                // Neither a 200 nor a 407: hyper-util does not say which.
                "unsuccessful" => {
                    "it refused CONNECT, as with a 403: it may not allow this address"
                }
                why => why,
            };
            return Some(format!("the proxy {proxy} made no connection ({why})").into());
        }
    };
    Some(message![why, advice])
}

/// Why an exchange broke off, without the URL.
fn words(error: &reqwest::Error) -> String {
    let why = match (find::<rustls::Error>(error), io_kind(error)) {
        (Some(rustls::Error::AlertReceived(AlertDescription::CertificateRequired)), _) => {
            "the server asks for a certificate of the client's, and this client shows none"
        }
        (Some(tls), _) => return format!("the encrypted connection broke ({tls})"),
        (None, Some(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)) => {
            "the connection was reset"
        }
        (None, Some(ErrorKind::UnexpectedEof)) => {
            "the connection closed before the answer was complete"
        }
        _ => match find::<hyper::Error>(error) {
            Some(error) if error.is_incomplete_message() => {
                "the connection closed before the answer was complete"
            }
            Some(error) if error.is_parse() => return format!("the answer is not HTTP ({error})"),
            _ => return root_cause(error),
        },
    };
    why.to_owned()
}

fn tls_words(error: &rustls::Error) -> Message {
    use rustls::Error as Tls;
    let why = match error {
        Tls::InvalidCertificate(fault) => match fault {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the server's certificate has expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet; is this machine's clock right?"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the server's certificate is for another host name"
            }
            CertificateError::UnknownIssuer => {
                return message![
                    "the server's certificate is not signed by an authority that this machine trusts; where \
                     the network or the service has its own authority, pass its PEM file as ",
                    Setting::CaBundle.argument(),
                ];
            }
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                "the server shows the certificate of an authority (perhaps self-signed) as its own; it needs \
                 one that an authority signed for its host name"
            }
            other => {
                // Only its name: its fields may contain foreign text.
                let fault = format!("{other:?}");
                let mut words = fault.split(|c: char| !c.is_ascii_alphanumeric());
                let name = words.next().unwrap_or_default();
                return format!("the server's certificate cannot be verified ({name})").into();
            }
        },
        Tls::InvalidMessage(_) => {
            "what answers there does not speak TLS; is it plain http, or another port?"
        }
        Tls::AlertReceived(AlertDescription::ProtocolVersion) | Tls::PeerIncompatible(_) => {
            "the server offers no version of TLS, or no cipher, that is safe (TLS 1.2 or later)"
        }
        _ => return format!("TLS: {error}").into(),
    };
    why.into()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use hyper::body::Body as _;

    use super::*;

    #[test]
    fn a_request_that_was_given_up_is_not_written() {
        for data in [None, Some(Bytes::from_static(b"{}"))] {
            let departure = Departure::new(|| panic!("it left"));
            let mut cargo = Cargo {
                data,
                departure: departure.clone(),
            };
            assert!(departure.withdraw());
            // hyper sees a body, and polls it before it writes the head.
            assert!(!cargo.is_end_stream());
            assert_eq!(cargo.size_hint().exact(), None);
            let polled = std::future::poll_fn(|context| Pin::new(&mut cargo).poll_frame(context));
            assert!(
                polled
                    .now_or_never()
                    .flatten()
                    .is_some_and(|frame| frame.is_err())
            );
        }
    }

    #[test]
    fn a_request_that_left_cannot_be_given_up() {
        let departure = Departure::new(|| ());
        let cargo = Cargo {
            data: None,
            departure: departure.clone(),
        };
        assert_eq!(cargo.size_hint().exact(), Some(0));
        assert!(cargo.is_end_stream());
        assert!(!departure.withdraw());
    }
}
