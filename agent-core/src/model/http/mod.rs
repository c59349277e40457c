//! The one HTTP client: where a request goes, how long it waits, what stays secret.
//!
//! [`Endpoint::post`] sends a body of pieces and gives back a [`Reply`], whose bytes are
//! read one piece at a time. Redirects are not followed, because a key would go with them.
//!
//! Not here: what the bytes mean (`sse`, and each provider's own files).

mod body;
mod reply;
mod setup;
mod url;
mod wait;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use tokio::runtime::{self, Handle};
use tokio::time::Instant;

use super::{ModelError, ModelErrorKind, Timeouts};
use crate::clock;
use crate::secrets::Secrets;

use body::Pieces;
pub(crate) use body::{Piece, closing, joined, text_of};
pub(crate) use reply::Reply;
pub(crate) use setup::{Setup, shared_setters};
pub(crate) use url::mask_url;

/// How many runtimes the connections of one client are kept for.
const RUNTIMES: usize = 4;

/// What kind of answer a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    EventStream,
    Json,
}

/// One URL that requests are posted to.
pub(crate) struct Endpoint {
    url: reqwest::Url,
    /// The URL as it may be shown.
    shown: String,
    /// Those of a request for a whole answer, and for a stream.
    headers: Headers,
    secrets: Secrets,
    timeouts: Timeouts,
    /// By the runtime their connections live in: no other runtime can drive them.
    clients: Mutex<Vec<(runtime::Id, reqwest::Client)>>,
    /// True once a request was answered: from then on a connection may be an old one.
    answered: AtomicBool,
}

impl Endpoint {
    /// Checks the base URL and the headers. `path` is put behind the base's own path.
    pub(crate) fn new(
        base_url: &str,
        path: &[&str],
        headers: &[(String, String)],
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        let shown = mask_url(base_url);
        let wrong = |why: &str| configuration(format!("base URL `{shown}` {why}"));
        let mut url =
            reqwest::Url::parse(base_url).map_err(|error| wrong(&format!("is no URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must start with `http://` or `https://`"));
        }
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&base);
        url.path_segments_mut()
            .map_err(|()| wrong("cannot have a path"))?
            .pop_if_empty()
            .extend(path);
        url.set_fragment(None);

        let shown = mask_url(url.as_str());
        let mut secrets = url::secrets(&url);
        let mut map = HeaderMap::new();
        if let Some(mut basic) = url::take_user(&mut url) {
            secrets.add(basic.to_str().unwrap_or("").trim_start_matches("Basic "));
            basic.set_sensitive(true);
            map.insert(header::AUTHORIZATION, basic);
        }
        map.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        for (name, value) in headers {
            let header = HeaderName::try_from(name)
                .map_err(|_| configuration(format!("`{name}` is no name of an HTTP header")))?;
            let mut text = HeaderValue::try_from(value).map_err(|_| {
                configuration(format!(
                    "the value of header `{name}` holds a character that no header may hold"
                ))
            })?;
            // Any header may carry a key; none is logged by the layers below.
            text.set_sensitive(true);
            map.insert(header, text);
            secrets.add(value.trim_start_matches("Bearer ").trim());
        }
        Ok(Self {
            shown,
            url,
            headers: Headers::new(&map),
            secrets,
            timeouts,
            clients: Mutex::default(),
            answered: AtomicBool::new(false),
        })
    }

    /// The URL without user, password and query.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// What must not be shown, whoever says it.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Posts the chunks, in order, as one body.
    ///
    /// A connection that was kept from an earlier request may be closed by the server while
    /// the next one is under way. A request lost so, before the head of an answer was whole, is
    /// sent once more.
    pub(crate) async fn post(
        self: Arc<Self>,
        chunks: Vec<Bytes>,
        expect: Expect,
    ) -> Result<Reply, ModelError> {
        let started = Instant::now();
        let limit = match expect {
            Expect::EventStream => self.timeouts.first_byte,
            Expect::Json => self.timeouts.whole,
        };
        let client = self.client()?;
        let send = |chunks| client.execute(self.request(chunks, expect));
        let sent = async {
            let mut answer = send(chunks.clone()).await;
            if answer.as_ref().is_err_and(is_lost) && self.answered.load(Ordering::Relaxed) {
                tracing::debug!(url = self.shown, "a kept connection broke; sending again");
                answer = send(chunks).await;
            }
            self.answered.fetch_or(answer.is_ok(), Ordering::Relaxed);
            answer
        };
        let limit = limit.min(self.timeouts.whole);
        match tokio::time::timeout(limit, sent).await {
            Ok(Ok(response)) => Ok(Reply {
                response,
                deadline: clock::after(started, self.timeouts.whole),
                endpoint: self,
            }),
            Ok(Err(error)) => Err(self.transport(error)),
            Err(_) => Err(ModelError::new(
                ModelErrorKind::Timeout,
                format!("no answer from `{}` within {limit:?}", self.shown),
            )),
        }
    }

    fn request(&self, mut chunks: Vec<Bytes>, expect: Expect) -> reqwest::Request {
        let mut request = reqwest::Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.of(expect).clone();
        let body = match (chunks.pop(), chunks.is_empty()) {
            (Some(only), true) => only.into(),
            (last, _) => {
                chunks.extend(last);
                reqwest::Body::wrap(Pieces::new(chunks))
            }
        };
        *request.body_mut() = Some(body);
        request
    }

    /// The client whose connections live in this runtime.
    fn client(&self) -> Result<reqwest::Client, ModelError> {
        let runtime = Handle::try_current()
            .map_err(|_| configuration("a model is asked outside of a tokio runtime".to_owned()))?
            .id();
        let clients = || self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients().iter().find(|(id, _)| *id == runtime) {
            return Ok(client.clone());
        }
        let client = self.new_client()?;
        let mut clients = clients();
        if clients.len() == RUNTIMES {
            clients.remove(0);
        }
        clients.push((runtime, client.clone()));
        Ok(client)
    }

    fn new_client(&self) -> Result<reqwest::Client, ModelError> {
        let failed = |error: &dyn std::error::Error| {
            configuration(format!("the HTTP client cannot be set up: {error}"))
        };
        // A proxy may have to be spoken to in TLS.
        let scheme = self.url.scheme();
        let tls = tls(scheme == "https" || has_proxy(scheme)).map_err(|error| failed(&error))?;
        reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            // What is lost on the way is sent again here; to be able to do so, reqwest would copy
            // each request.
            .retry(reqwest::retry::never().max_retries_per_request(0))
            .connect_timeout(self.timeouts.connect)
            // llama.cpp, Node and uvicorn close a connection that is idle for 5 s; a request sent just
            // then would be lost, so ours is let go first.
            .pool_idle_timeout(Duration::from_secs(4))
            .build()
            .map_err(|error| failed(&error))
    }

    fn transport(&self, error: reqwest::Error) -> ModelError {
        let error = error.without_url();
        let (kind, what) = if error.is_connect() && error.is_timeout() {
            (ModelErrorKind::Timeout, "connecting took too long")
        } else if error.is_timeout() {
            (ModelErrorKind::Timeout, "the call took too long")
        } else if error.is_connect() && has_proxy(self.url.scheme()) {
            (
                ModelErrorKind::Transport,
                "cannot connect, maybe because of the proxy in the environment",
            )
        } else if error.is_connect() {
            (ModelErrorKind::Transport, "cannot connect")
        } else {
            (ModelErrorKind::Transport, "the connection broke")
        };
        ModelError::new(kind, format!("{what}: `{}`", self.shown)).with_source(error)
    }
}

/// The headers of each kind of request.
struct Headers {
    events: HeaderMap,
    json: HeaderMap,
}

impl Headers {
    /// These headers; what is accepted is theirs to say, if they do.
    fn new(headers: &HeaderMap) -> Self {
        let accepting = |media_type| {
            let mut headers = headers.clone();
            let accept = HeaderValue::from_static(media_type);
            headers.entry(header::ACCEPT).or_insert(accept);
            headers
        };
        Self {
            events: accepting("text/event-stream"),
            json: accepting("application/json"),
        }
    }

    fn of(&self, expect: Expect) -> &HeaderMap {
        match expect {
            Expect::EventStream => &self.events,
            Expect::Json => &self.json,
        }
    }
}

/// True if the connection broke after it was made and before an answer.
fn is_lost(error: &reqwest::Error) -> bool {
    error.is_request() && !error.is_connect() && !error.is_timeout()
}

fn configuration(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, message)
}

/// True if the environment names a proxy for URLs of this scheme.
fn has_proxy(scheme: &str) -> bool {
    let own = [
        format!("{scheme}_proxy"),
        format!("{}_PROXY", scheme.to_uppercase()),
    ];
    let all = ["all_proxy".to_owned(), "ALL_PROXY".to_owned()];
    let mut names = own.iter().chain(&all);
    names.any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// TLS by rustls with ring. The system's roots take milliseconds to load, so a plain `http`
/// endpoint without a proxy gets none: it never speaks TLS, since redirects are not followed.
fn tls(roots: bool) -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    if !roots {
        return Ok(builder
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth());
    }
    let verifier = rustls_platform_verifier::Verifier::new(provider)?;
    Ok(builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}
