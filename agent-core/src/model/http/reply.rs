//! What came back: the status, the headers, and the body one piece at a time.

use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::FutureExt as _;
use http::{StatusCode, header};
use tokio::time::Instant;

use super::exchange::{Answer, Broken};
use super::head::{self, Head};
use super::io::{Io, receive};
use super::sending::Unsent;
use super::{Endpoint, wait};
use crate::model::{ModelError, ModelErrorKind};

/// How long the end of a body may take after the last word of the answer.
const DRAIN: Duration = Duration::from_millis(20);

/// How long the words of an error may take; the error itself is known before they come.
const SOON: Duration = Duration::from_secs(5);

/// An answer whose body is still on its way. Dropping it closes the connection, unless the body was
/// read to its end.
pub(crate) struct Reply {
    head: Head,
    /// The text of the head, and behind it what was read of the body since it was last cleared.
    bytes: Vec<u8>,
    /// Where the bytes begin that were not looked at.
    fresh: usize,
    /// Nothing once the body is over.
    io: Option<Box<dyn Io>>,
    /// Goes on while the body is read.
    unsent: Option<Unsent>,
    deadline: Instant,
    endpoint: Arc<Endpoint>,
}

impl Reply {
    pub(super) fn new(answer: Answer, deadline: Instant, endpoint: Arc<Endpoint>) -> Self {
        Self {
            fresh: answer.head.length,
            head: answer.head,
            bytes: answer.bytes,
            io: Some(answer.io),
            unsent: answer.unsent,
            deadline,
            endpoint,
        }
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    /// The words that go with the status, for example `Bad Gateway`.
    pub(crate) fn reason(&self) -> &'static str {
        let status = StatusCode::from_u16(self.head.status).ok();
        status.and_then(|it| it.canonical_reason()).unwrap_or("")
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

    /// How long it takes until the limit is open again that was reached.
    pub(crate) fn reset_after(&self) -> Option<Duration> {
        wait::until_reset(|name| self.header(name).trim())
    }

    /// How the body is compressed, though no client of ours asks for that; empty if it is not.
    pub(crate) fn encoding(&self) -> &str {
        match self.header(header::CONTENT_ENCODING.as_str()).trim() {
            "identity" => "",
            encoding => encoding,
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        head::header(&self.bytes[..self.head.length], name)
    }

    /// The next piece of the body; `None` at its end. Waits no longer than `limit` or the limit of
    /// silence.
    pub(crate) async fn chunk_within(
        &mut self,
        limit: Duration,
    ) -> Result<Option<&[u8]>, ModelError> {
        let idle = self.endpoint.timeouts.idle.min(limit);
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut chunk = poll_fn(|cx| self.poll_chunk(cx));
        let chunk = if left.is_zero() {
            // Of what comes too late nothing is read: the rest would lack what was lost.
            None
        } else if let Some(here) = (&mut chunk).now_or_never() {
            // What is there already needs no timer; whoever reads fast would set one for each.
            Some(here)
        } else {
            tokio::time::timeout(idle.min(left), chunk).await.ok()
        };
        match chunk {
            Some(Ok(chunk)) => Ok(chunk.map(|range| &self.bytes[range])),
            Some(Err(error)) => Err(self.endpoint.broken(error)),
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

    /// Where the next bytes of the body stand; `None` at its end.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Range<usize>>, Broken>> {
        loop {
            if self.fresh < self.bytes.len() && !self.head.framing.is_over() {
                let start = self.fresh;
                let taken = self.head.framing.take(&mut self.bytes[start..])?;
                self.fresh += taken.used;
                if taken.data > 0 {
                    self.end_if_over();
                    return Poll::Ready(Ok(Some(start..start + taken.data)));
                }
                continue;
            }
            self.end_if_over();
            let Some(io) = &mut self.io else {
                return Poll::Ready(Ok(None));
            };
            if let Some(unsent) = &mut self.unsent
                && unsent.poll(&mut **io, cx).is_ready()
            {
                self.unsent = None;
            }
            self.bytes.truncate(self.head.length);
            self.fresh = self.head.length;
            if ready!(receive(&mut **io, cx, &mut self.bytes))? == 0 {
                if !self.head.framing.may_end() {
                    return Poll::Ready(Err(Broken::ClosedAnswering));
                }
                self.io = None;
            }
        }
    }

    /// Lets the connection be used again once the body is over.
    fn end_if_over(&mut self) {
        if self.head.framing.is_over()
            && let Some(io) = self.io.take()
            // What follows the answer belongs to nobody.
            && self.head.keeps_alive
            && self.fresh == self.bytes.len()
        {
            self.endpoint.pool.put(io);
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
        let mut rest = poll_fn(|cx| {
            while ready!(self.poll_chunk(cx)).is_ok_and(|chunk| chunk.is_some()) {}
            Poll::Ready(())
        });
        if (&mut rest).now_or_never().is_none() {
            let _ = tokio::time::timeout(DRAIN, rest).await;
        }
    }

    /// The beginning of the body of an error, as much as comes soon, at most `limit` bytes.
    pub(crate) async fn beginning(&mut self, limit: usize) -> Vec<u8> {
        let mut body = Vec::new();
        let _ = tokio::time::timeout(SOON, async {
            while body.len() < limit
                && let Ok(Some(chunk)) = self.chunk_within(SOON).await
            {
                let left = limit - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(left)]);
            }
        })
        .await;
        body
    }
}
