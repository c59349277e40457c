//! What came back: the status, the headers, and the body one piece at a time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use reqwest::header;
use tokio::time::Instant;

use super::{Endpoint, wait};
use crate::model::{ModelError, ModelErrorKind};

/// How long the end of a body may take after the last word of the answer.
const DRAIN: Duration = Duration::from_millis(20);

/// How long the words of an error may take; the error itself is known before they come.
const SOON: Duration = Duration::from_secs(5);

/// An answer whose body is still on its way. Dropping it closes the connection.
pub(crate) struct Reply {
    pub(super) response: reqwest::Response,
    pub(super) deadline: Instant,
    pub(super) endpoint: Arc<Endpoint>,
}

impl Reply {
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The words that go with the status, for example `Bad Gateway`.
    pub(crate) fn reason(&self) -> &'static str {
        self.response.status().canonical_reason().unwrap_or("")
    }

    /// The media type as it was written, without parameters; empty if there is none.
    pub(crate) fn media_type(&self) -> &str {
        let text = self.header(header::CONTENT_TYPE.as_str());
        text.split_once(';').map_or(text, |(kind, _)| kind).trim()
    }

    /// How long the server asks to wait.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        wait::asked(|name| self.header(name).trim())
    }

    /// How the body is compressed, though no client of ours asks for that; empty if it is not.
    pub(crate) fn encoding(&self) -> &str {
        match self.header(header::CONTENT_ENCODING.as_str()).trim() {
            "identity" => "",
            encoding => encoding,
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.response.headers().get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// The next piece of the body; `None` at its end. Waits no longer than `limit` or the limit of
    /// silence.
    pub(crate) async fn chunk_within(
        &mut self,
        limit: Duration,
    ) -> Result<Option<Bytes>, ModelError> {
        let idle = self.endpoint.timeouts.idle.min(limit);
        let left = self.deadline.saturating_duration_since(Instant::now());
        let chunk = if left.is_zero() {
            // Of what comes too late nothing is read: the rest would lack what was lost.
            None
        } else if let Some(here) = self.response.chunk().now_or_never() {
            // What is there already needs no timer; whoever reads fast would set one for each.
            Some(here)
        } else {
            let next = tokio::time::timeout(idle.min(left), self.response.chunk());
            next.await.ok()
        };
        match chunk {
            Some(Ok(chunk)) => Ok(chunk),
            Some(Err(error)) => Err(self.endpoint.transport(error)),
            None if idle <= left && !left.is_zero() => Err(ModelError::new(
                ModelErrorKind::StreamIdleTimeout,
                format!("nothing came from `{}` for {idle:?}", self.endpoint.shown),
            )),
            None => Err(ModelError::new(
                ModelErrorKind::Timeout,
                format!(
                    "the answer of `{}` was not whole within {:?}",
                    self.endpoint.shown, self.endpoint.timeouts.whole
                ),
            )),
        }
    }

    pub(crate) fn too_large(&self, limit: usize) -> ModelError {
        let shown = &self.endpoint.shown;
        ModelError::new(
            ModelErrorKind::Decode,
            format!("the answer of `{shown}` is larger than {limit} bytes"),
        )
    }

    /// Reads over what little may be left behind the last word of the answer, so that the
    /// connection can be used again. Waits for it only as long as nobody notices.
    pub(crate) async fn drain(&mut self) {
        let _ = tokio::time::timeout(DRAIN, async {
            while let Ok(Some(_)) = self.response.chunk().await {}
        })
        .await;
    }

    /// The beginning of the body of an error, as much as comes soon, at most `limit` bytes.
    pub(crate) async fn beginning(&mut self, limit: usize) -> Vec<u8> {
        let mut body = Vec::new();
        let _ = tokio::time::timeout(SOON, async {
            while body.len() < limit
                && let Ok(Some(chunk)) = self.chunk_within(SOON).await
            {
                body.extend_from_slice(&chunk[..chunk.len().min(limit - body.len())]);
            }
        })
        .await;
        body
    }
}
