//! How a connection is made: through the proxy of the environment, by TCP, in TLS.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Uri};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower_service::Service as _;

use super::io::Io;
use crate::boxed::BoxError;

/// How long a peer may leave a probe, or what was sent, without an answer of its network: a router
/// that forgot the connection says nothing.
const SILENCE: Duration = Duration::from_secs(30);
const PROBES: u32 = 3;

/// The way to a server.
#[derive(Debug, Clone)]
pub(super) enum Route {
    Direct,
    /// The proxy is asked for the whole URL.
    Forwarded(Proxy),
    /// The proxy is asked for a connection.
    Tunnelled(Proxy),
}

#[derive(Debug, Clone)]
pub(super) struct Proxy {
    uri: Uri,
    pub(super) authorization: Option<HeaderValue>,
}

impl Route {
    /// The way that the environment names (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`).
    /// Fails with what kind of proxy it is, if that is none of HTTP.
    pub(super) fn to(server: &Uri) -> Result<Self, String> {
        let Some(proxy) = Matcher::from_system().intercept(server) else {
            return Ok(Self::Direct);
        };
        let kind = proxy.uri().scheme_str().unwrap_or_default();
        if !matches!(kind, "http" | "https") {
            return Err(kind.to_owned());
        }
        let proxy = Proxy {
            uri: proxy.uri().clone(),
            authorization: proxy.basic_auth().cloned(),
        };
        Ok(match server.scheme_str() {
            Some("https") => Self::Tunnelled(proxy),
            _ => Self::Forwarded(proxy),
        })
    }

    fn proxy(&self) -> Option<&Proxy> {
        match self {
            Self::Direct => None,
            Self::Forwarded(proxy) | Self::Tunnelled(proxy) => Some(proxy),
        }
    }

    pub(super) fn has_proxy(&self) -> bool {
        self.proxy().is_some()
    }
}

/// Makes connections to one server.
pub(super) struct Connector {
    server: Uri,
    route: Route,
    tls: Arc<ClientConfig>,
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
        let is_secure = |uri: &Uri| uri.scheme_str() == Some("https");
        let speaks_tls =
            is_secure(&server) || route.proxy().is_some_and(|proxy| is_secure(&proxy.uri));
        let tls = match speaks_tls {
            // The system's roots are read from its files, which takes milliseconds.
            true => tokio::task::spawn_blocking(tls).await??,
            false => no_tls()?,
        };
        Ok(Self {
            tls: Arc::new(tls),
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
        let mut direct = HttpsConnector::from((self.tcp(), Arc::clone(&self.tls)));
        let proxy = match &self.route {
            Route::Direct => return direct.call(self.server.clone()).await.map(plain),
            Route::Forwarded(proxy) => return direct.call(proxy.uri.clone()).await.map(plain),
            Route::Tunnelled(proxy) => proxy,
        };
        let mut tunnel = Tunnel::new(proxy.uri.clone(), direct);
        if let Some(authorization) = &proxy.authorization {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let through = tunnel.call(self.server.clone()).await?;
        let host = self.server.host().unwrap_or_default();
        let name = ServerName::try_from(host.trim_matches(['[', ']']))?.to_owned();
        let tls = TlsConnector::from(Arc::clone(&self.tls));
        Ok(Box::new(tls.connect(name, TokioIo::new(through)).await?))
    }

    fn tcp(&self) -> HttpConnector {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(self.limit));
        tcp.set_keepalive(Some(SILENCE / 2));
        tcp.set_keepalive_interval(Some(SILENCE / 2));
        tcp.set_keepalive_retries(Some(PROBES));
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        tcp.set_tcp_user_timeout(Some(SILENCE));
        tcp
    }
}

/// Without the layers that only the connectors need.
fn plain(stream: MaybeHttpsStream<TokioIo<TcpStream>>) -> Box<dyn Io> {
    match stream {
        MaybeHttpsStream::Http(tcp) => Box::new(tcp.into_inner()),
        MaybeHttpsStream::Https(tls) => Box::new(tls.into_inner()),
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

/// What trusts nobody, for a way that never speaks TLS.
fn no_tls() -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    Ok(builder
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}
