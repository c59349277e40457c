//! The one HTTP client: where a request goes, how long it waits, what stays secret.
//!
//! [`Endpoint::post`] sends a body of pieces and gives back a [`Reply`], whose bytes are
//! read one piece at a time. Redirects are not followed, because a key would go with them.
//!
//! A [`Connector`] makes connections, a [`Pool`] keeps them, an exchange is one request on one of
//! them; [`head`] and [`framing`] are what HTTP/1.1 is. The task that asks drives its connection
//! itself: a model answers one request at a time on it, so nothing needs to stand between.
//!
//! Not here: what the bytes mean (`sse`, and each provider's own files).

mod body;
mod connector;
mod exchange;
mod framing;
mod head;
mod io;
mod pool;
mod reply;
mod request;
mod sending;
mod setup;
pub(crate) mod span;
mod url;
mod wait;

use std::sync::{Arc, OnceLock};

use ::url::Position;
use http::{HeaderValue, StatusCode, Uri};
use tokio::runtime::{self, Handle};
use tokio::time::Instant;

use super::{ModelError, ModelErrorKind, Timeouts};
use crate::clock;
use crate::secrets::Secrets;

pub(crate) use body::{Piece, closing, text_of};
use connector::{Connector, Route, Unconnected};
use exchange::{Answer, Broken, exchange};
use io::Io;
use pool::Pool;
pub(crate) use reply::Reply;
use request::Heads;
pub(crate) use setup::{Setup, shared_setters};
pub(crate) use url::mask_url;

/// What kind of answer a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    EventStream,
    Json,
}

/// One URL that requests are posted to.
pub(crate) struct Endpoint {
    /// Scheme, host and port of it.
    server: Uri,
    /// The URL as it may be shown.
    shown: String,
    /// Those of a request for a whole answer, and for a stream.
    heads: Heads,
    secrets: Secrets,
    timeouts: Timeouts,
    route: Route,
    /// Made for the first connection.
    connector: OnceLock<Connector>,
    pool: Arc<Pool>,
}

impl Endpoint {
    /// Checks the base URL and the headers. `path` is put behind the base's own path.
    pub(crate) fn new(
        base_url: &str,
        path: &[&str],
        headers: &[(String, String)],
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        let written = mask_url(base_url);
        let wrong = |why: String| configuration(format!("base URL `{written}` {why}"));
        let mut url = url::joined(base_url, path).map_err(wrong)?;
        let shown = mask_url(url.as_str());
        let mut secrets = url::secrets(&url);
        let user = url::take_user(&mut url);
        let host = HeaderValue::try_from(&url[Position::BeforeHost..Position::AfterPort])
            .map_err(|_| wrong("names no host".to_owned()))?;
        let server = Uri::try_from(&url[..Position::BeforePath])
            .map_err(|error| wrong(format!("is no URL: {error}")))?;
        for value in user.iter().filter_map(|basic| basic.to_str().ok()) {
            secrets.add(value.trim_start_matches("Basic "));
        }
        for (_, value) in headers {
            secrets.add(value.trim_start_matches("Bearer ").trim());
        }
        let headers = request::headers(host, user, headers).map_err(configuration)?;
        let route = Route::to(&server).map_err(|kind| {
            configuration(format!(
                "the environment names a proxy of the kind `{kind}`; `http`, `https`, `socks5` and `socks5h` are spoken"
            ))
        })?;
        Ok(Self {
            shown,
            heads: Heads::new(&url, &route, &headers),
            secrets,
            timeouts,
            server,
            route,
            connector: OnceLock::new(),
            pool: Arc::default(),
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

    /// Posts the pieces, in order, as one body.
    ///
    /// A connection that was kept from an earlier request may be closed by the server while
    /// the next one is under way. A request lost so, before the head of an answer was whole, is
    /// sent once more, on a connection of its own; also where a server says, as it closes a
    /// connection, that nothing came on it for long.
    pub(crate) async fn post(
        self: Arc<Self>,
        body: Vec<Piece>,
        expect: Expect,
    ) -> Result<Reply, ModelError> {
        let started = Instant::now();
        let limit = match expect {
            Expect::EventStream => self.timeouts.first_byte,
            Expect::Json => self.timeouts.whole,
        };
        let limit = limit.min(self.timeouts.whole);
        let runtime = Handle::try_current()
            .map_err(|_| configuration("a model is asked outside of a tokio runtime".to_owned()))?
            .id();
        let sent = self.send(&body, expect, runtime);
        match tokio::time::timeout(limit, sent).await {
            Ok(answer) => Ok(Reply::new(
                answer?,
                clock::after(started, self.timeouts.whole),
                self,
            )),
            Err(_) => Err(ModelError::new(
                ModelErrorKind::Timeout,
                format!("no answer from `{}` within {limit:?}", self.shown),
            )),
        }
    }

    async fn send(
        &self,
        body: &[Piece],
        expect: Expect,
        runtime: runtime::Id,
    ) -> Result<Answer, ModelError> {
        let head = self.heads.of(expect);
        if let Some(kept) = self.pool.take(runtime) {
            match exchange(kept, head, body).await {
                Err(_) => {}
                Ok(answer) if answer.head.status == StatusCode::REQUEST_TIMEOUT => {}
                Ok(answer) => return Ok(answer),
            }
            tracing::debug!(url = self.shown, "a kept connection broke; sending again");
        }
        // Few requests need it, so it takes no room in the others.
        let io = Box::pin(self.connect()).await?;
        let answer = exchange(io, head, body).await;
        answer.map_err(|error| self.broken(error))
    }

    async fn connect(&self) -> Result<Box<dyn Io>, ModelError> {
        let connector = match self.connector.get() {
            Some(connector) => connector,
            None => {
                let (server, route) = (self.server.clone(), self.route.clone());
                let new = Connector::new(server, route, self.timeouts.connect).await;
                let new = new.map_err(|error| {
                    configuration(format!("the HTTP client cannot be set up: {error}"))
                })?;
                self.connector.get_or_init(|| new)
            }
        };
        connector.connect().await.map_err(|error| match error {
            Unconnected::TooSlow => {
                self.transport(ModelErrorKind::Timeout, "connecting took too long")
            }
            Unconnected::Failed(error) => {
                let what = match self.route.has_proxy() {
                    true => "cannot connect, maybe because of the proxy in the environment",
                    false => "cannot connect",
                };
                self.transport(ModelErrorKind::Transport, what)
                    .with_source(error)
            }
        })
    }

    /// The error that a broken connection is.
    fn broken(&self, error: Broken) -> ModelError {
        let what = match error {
            Broken::Malformed(_) => "what answers does not speak HTTP/1.1 as it should",
            _ => "the connection broke",
        };
        self.transport(ModelErrorKind::Transport, what)
            .with_source(error)
    }

    fn transport(&self, kind: ModelErrorKind, what: &str) -> ModelError {
        ModelError::new(kind, format!("{what}: `{}`", self.shown))
    }
}

fn configuration(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, message)
}
