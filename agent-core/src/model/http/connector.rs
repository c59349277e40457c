//! How a connection is made: through the proxy of the environment, by TCP, in TLS.

use std::fmt;
use std::future::Ready;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderValue, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::io::Io;
use crate::boxed::BoxError;

/// How long nothing is said before the peer's network is asked whether it is there, because a router
/// that forgot the connection says nothing. How often, and how far apart, before it counts as gone.
///
/// There is no limit for what was sent and not taken: a busy server may leave a large request waiting,
/// and for how long is for [`Timeouts`](crate::model::Timeouts) to say.
const SILENCE: Duration = Duration::from_secs(15);
const PROBES: u32 = 3;
const PROBE: Duration = Duration::from_secs(5);

/// The way to a server.
#[derive(Debug, Clone)]
pub(super) enum Route {
    Direct,
    /// The proxy is asked for the whole URL.
    Forwarded(Proxy),
    /// The proxy is asked for a connection.
    Tunnelled(Proxy),
    /// The same of a proxy that speaks SOCKS 5.
    Socks(Proxy),
}

/// A proxy that the environment names.
#[derive(Clone)]
pub(super) struct Proxy(Intercept);

impl Proxy {
    fn uri(&self) -> Uri {
        self.0.uri().clone()
    }

    fn scheme(&self) -> &str {
        self.0.uri().scheme_str().unwrap_or_default()
    }

    /// The header that tells who asks.
    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.0.basic_auth()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(self.0.uri()).finish()
    }
}

impl Route {
    /// The way that the environment names (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`).
    /// Fails with the kind of the proxy, if that is one that nobody here speaks.
    pub(super) fn to(server: &Uri) -> Result<Self, String> {
        let Some(proxy) = Matcher::from_system().intercept(server) else {
            return Ok(Self::Direct);
        };
        let proxy = Proxy(proxy);
        match (proxy.scheme(), server.scheme_str()) {
            ("socks5" | "socks5h", _) => Ok(Self::Socks(proxy)),
            ("http" | "https", Some("https")) => Ok(Self::Tunnelled(proxy)),
            ("http" | "https", _) => Ok(Self::Forwarded(proxy)),
            (other, _) => Err(other.to_owned()),
        }
    }

    pub(super) fn has_proxy(&self) -> bool {
        !matches!(self, Self::Direct)
    }

    /// True if a proxy is spoken to in TLS.
    fn is_secure(&self) -> bool {
        match self {
            Self::Direct | Self::Socks(_) => false,
            Self::Forwarded(proxy) | Self::Tunnelled(proxy) => proxy.scheme() == "https",
        }
    }
}

/// Makes connections to one server.
pub(super) struct Connector {
    server: Uri,
    route: Route,
    /// `None` for a way that never speaks TLS.
    tls: Option<Arc<ClientConfig>>,
    limit: Duration,
}

/// Why there is no connection.
pub(super) enum Unconnected {
    TooSlow,
    Failed(BoxError),
}

impl Connector {
    /// `limit` is the time that one connection may take until it can be used.
    pub(super) async fn new(server: Uri, route: Route, limit: Duration) -> Result<Self, BoxError> {
        let speaks_tls = is_secure(&server) || route.is_secure();
        let tls = match speaks_tls {
            // The system's roots are read from its files, which takes milliseconds.
            true => Some(Arc::new(tokio::task::spawn_blocking(tls).await??)),
            false => None,
        };
        Ok(Self {
            tls,
            server,
            route,
            limit,
        })
    }

    pub(super) async fn connect(&self) -> Result<Box<dyn Io>, Unconnected> {
        match tokio::time::timeout(self.limit, self.open()).await {
            Ok(Ok(io)) => Ok(io),
            Ok(Err(error)) if took_too_long(&*error) => Err(Unconnected::TooSlow),
            Ok(Err(error)) => Err(Unconnected::Failed(error)),
            Err(_) => Err(Unconnected::TooSlow),
        }
    }

    async fn open(&self) -> Result<Box<dyn Io>, BoxError> {
        let server = self.server.clone();
        match &self.route {
            Route::Direct => self.direct(&server).await,
            Route::Forwarded(proxy) => self.direct(&proxy.uri()).await,
            Route::Tunnelled(proxy) => {
                let way = self.direct(&proxy.uri()).await?;
                let mut tunnel = Tunnel::new(proxy.uri(), Opened(Some(way)));
                if let Some(authorization) = proxy.authorization() {
                    tunnel = tunnel.with_auth(authorization.clone());
                }
                let way = tunnel.call(server).await?.into_inner();
                self.in_tls(&self.server, way).await
            }
            Route::Socks(proxy) => {
                let mut socks = SocksV5::new(proxy.uri(), self.tcp())
                    // With the `h`, names are the proxy's to look up.
                    .local_dns(proxy.scheme() == "socks5");
                if let Some((user, password)) = proxy.0.raw_auth() {
                    socks = socks.with_auth(user.to_owned(), password.to_owned());
                }
                let way = socks.call(server).await?.into_inner();
                self.spoken_to(&self.server, way).await
            }
        }
    }

    /// A connection to this host itself.
    async fn direct(&self, host: &Uri) -> Result<Box<dyn Io>, BoxError> {
        let way = self.tcp().call(host.clone()).await?.into_inner();
        self.spoken_to(host, way).await
    }

    /// The way to a host, as its URL says that it is spoken to.
    async fn spoken_to(&self, host: &Uri, way: TcpStream) -> Result<Box<dyn Io>, BoxError> {
        match is_secure(host) {
            true => self.in_tls(host, way).await,
            false => Ok(Box::new(way)),
        }
    }

    async fn in_tls(&self, host: &Uri, way: impl Io + 'static) -> Result<Box<dyn Io>, BoxError> {
        let name = host.host().unwrap_or_default();
        let name = ServerName::try_from(name.trim_matches(['[', ']']))?.to_owned();
        let tls = self.tls.as_ref().ok_or("a way without TLS leads to TLS")?;
        let tls = TlsConnector::from(Arc::clone(tls));
        Ok(Box::new(tls.connect(name, way).await?))
    }

    fn tcp(&self) -> HttpConnector {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(self.limit));
        tcp.set_keepalive(Some(SILENCE));
        tcp.set_keepalive_interval(Some(PROBE));
        tcp.set_keepalive_retries(Some(PROBES));
        tcp
    }
}

fn is_secure(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

/// A connection that is there, for who wants to make it.
struct Opened(Option<Box<dyn Io>>);

impl Service<Uri> for Opened {
    type Response = TokioIo<Box<dyn Io>>;
    type Error = &'static str;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let way = self.0.take().map(TokioIo::new);
        std::future::ready(way.ok_or("a connection is used once"))
    }
}

/// True if a limit of one address, or of the system, was what ended the attempt.
fn took_too_long(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |cause| cause.source());
    causes.any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut)
    })
}

/// TLS by rustls with ring and the system's roots.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(&provider))?;
    let builder = ClientConfig::builder_with_provider(provider);
    let mut config = builder
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
