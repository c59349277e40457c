//! Drives an answer: takes bytes from the connection until the assembler has all it needs.

use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, stream};

use super::error;
use super::stream::Assembler;
use crate::model::http::{Expect, Reply};
use crate::model::sse::SseParser;
use crate::model::{ModelDelta, ModelError, ModelErrorKind};

/// Most bytes of an answer, streamed or plain.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// How long the usage, and the end of the stream, may take after the reply is whole.
const GRACE: Duration = Duration::from_secs(2);

/// Waits for the answer and reads it by what it is, whatever was asked for: some servers
/// answer plainly to who wants a stream.
pub(super) async fn deltas(
    reply: impl Future<Output = Result<Reply, ModelError>>,
    expect: Expect,
) -> Result<impl Stream<Item = Result<ModelDelta, ModelError>>, ModelError> {
    let reply = reply.await?;
    if !(200..300).contains(&reply.status()) {
        return Err(error::refused(reply).await);
    }
    let media_type = reply.media_type();
    if error::is_page(&media_type, "") {
        return Err(error::not_the_api(reply).await);
    }
    let is_stream = match &*media_type {
        "text/event-stream" => true,
        "application/json" => false,
        _ => expect == Expect::EventStream,
    };
    let reading = Reading {
        reply,
        is_stream,
        parser: SseParser::default(),
        assembler: Assembler::default(),
        read: 0,
        ready: VecDeque::new(),
        error: None,
    };
    Ok(stream::try_unfold(reading, Reading::next))
}

struct Reading {
    reply: Reply,
    is_stream: bool,
    parser: SseParser,
    assembler: Assembler,
    /// How many bytes of the stream came so far.
    read: usize,
    ready: VecDeque<ModelDelta>,
    /// Handed out after what came before it.
    error: Option<ModelError>,
}

impl Reading {
    async fn next(mut self) -> Result<Option<(ModelDelta, Self)>, ModelError> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Ok(Some((delta, self)));
            }
            if let Some(error) = self.error.take() {
                return Err(error.redacted(|text| self.reply.endpoint().redact(text)));
            }
            if self.assembler.is_done() {
                self.reply.drain().await;
                return Ok(None);
            }
            let read = match self.is_stream {
                true => self.read_events().await,
                false => self.read_plain().await,
            };
            self.error = read.err();
        }
    }

    async fn read_events(&mut self) -> Result<(), ModelError> {
        let is_finished = self.assembler.is_finished();
        let grace = if is_finished { GRACE } else { Duration::MAX };
        match self.reply.chunk_within(grace).await {
            Ok(Some(bytes)) => {
                self.read += bytes.len();
                if self.read > MAX_BODY {
                    return Err(self.reply.too_large(MAX_BODY));
                }
                self.take(&bytes)?;
            }
            Ok(None) => self.assembler.eof(&mut self.ready)?,
            // The answer is whole; only the end of the connection was not as it should be.
            Err(_) if self.assembler.is_finished() => self.assembler.eof(&mut self.ready)?,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn take(&mut self, bytes: &Bytes) -> Result<(), ModelError> {
        let mut events = VecDeque::new();
        let taken = self.parser.push(bytes, &mut events);
        for event in events {
            self.assembler.event(&event, &mut self.ready)?;
        }
        taken.map_err(|error| {
            ModelError::new(ModelErrorKind::Decode, "the stream cannot be read").with_source(error)
        })
    }

    async fn read_plain(&mut self) -> Result<(), ModelError> {
        let body = self.reply.whole(MAX_BODY).await?;
        let body = String::from_utf8_lossy(&body);
        self.assembler.plain(&body, &mut self.ready)
    }
}
