//! Reads an answer: takes bytes from the connection until the assembler has all it needs.
//!
//! [`deltas`] and [`response`] drive, a [`Reader`] takes the bytes, an [`Assembler`] knows what
//! those of its provider mean. [`refusal`] tells answers that are none, [`report`] what a server
//! says went wrong, [`ending`] why an answer ended, [`json`] how to read JSON of servers that
//! differ in every field, [`cut`] how a text goes on that was cut inside of a character, and
//! [`growing`] what is meant where pieces repeat what came before.
//!
//! What an answer takes is bound by its bytes, by those of one event, and by the number of its
//! parts. The number that a server gives a call or a block is only what it is found by, so it may be
//! any.

mod asked_wait;
mod classes;
pub(super) mod cut;
pub(super) mod ending;
pub(super) mod growing;
pub(super) mod json;
pub(super) mod quoted;
mod reader;
pub(super) mod ready;
pub(super) mod refusal;
pub(super) mod report;

use std::error::Error as _;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, stream};

use crate::boxed::BoxFuture;
use crate::model::http::{Endpoint, Expect, Piece, Reply};
use crate::model::{Accumulator, ChatResponse, ModelDelta, ModelError, ModelErrorKind};

use reader::Reader;
pub(super) use reader::whole;
use ready::Ready;

/// Most bytes of an answer, streamed or plain.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// Most calls of an answer, and most parts of another kind. The bound of its bytes does not do: a
/// part may be written with three, and takes a hundred times as many.
pub(super) const MAX_PARTS: usize = 64 * 1024;

/// How long the usage, and the end of the stream, may take after the reply is whole.
const GRACE: Duration = Duration::from_secs(2);

/// What a plain answer that cannot be read is: one that ends in the middle was cut off, as one on
/// a connection that tells no length may be.
pub(super) fn cut_off(error: ModelError) -> ModelError {
    let is_cut = |cause: &serde_json::Error| cause.is_eof();
    let cause = error.source().and_then(|it| it.downcast_ref());
    match cause.is_some_and(is_cut) {
        true => ModelError::new(
            ModelErrorKind::StreamTruncated,
            "the answer ended in the middle",
        ),
        false => error,
    }
}

/// What an answer is that has more than [`MAX_PARTS`].
pub(super) fn too_many_parts() -> ModelError {
    ModelError::new(
        ModelErrorKind::Decode,
        format!("the answer holds more than {MAX_PARTS} tool calls or other parts"),
    )
}

/// Puts an answer together: pieces in, deltas out. Pure.
///
/// Text is handed out as it comes; calls, token counts and the reason only after the provider
/// said that the answer is over.
pub(super) trait Assembler: Default {
    /// What the API is called, for errors.
    const API: &'static str;

    /// Takes the data of one event in, with no blanks around them. There are some.
    fn event(&mut self, data: &str, ready: &mut Ready) -> Result<(), ModelError>;

    /// Takes a whole plain answer in.
    fn plain(&mut self, body: &str, ready: &mut Ready) -> Result<(), ModelError>;

    /// The bytes are over; without an end said before, the answer was cut off.
    fn eof(&mut self, ready: &mut Ready) -> Result<(), ModelError>;

    /// True once the provider gave its reason; only token counts may still come.
    fn is_finished(&self) -> bool;

    /// True if more may come though the provider gave its reason.
    fn may_go_on(&self) -> bool {
        false
    }

    /// True once everything was handed out.
    fn is_done(&self) -> bool;
}

/// What is asked, and where.
pub(super) struct Asked {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) body: Vec<Piece>,
    pub(super) expect: Expect,
}

impl Asked {
    fn reply(&mut self) -> impl Future<Output = Result<Reply, ModelError>> + use<> {
        let body = std::mem::take(&mut self.body);
        Arc::clone(&self.endpoint).post(body, self.expect)
    }
}

/// Waits for the answer and hands it out as it comes.
pub(super) async fn deltas<A: Assembler>(
    mut asked: Asked,
) -> Result<impl Stream<Item = Result<ModelDelta, ModelError>>, ModelError> {
    let reading = match Reading::<A>::begin(asked.reply().await?) {
        // The state is moved for each delta, so it is behind a pointer.
        Ok(reading) => Box::new(reading),
        Err(refusal) => return Err(refusal.await),
    };
    Ok(stream::try_unfold(reading, |mut reading| async {
        let delta = reading.next().await?;
        Ok(delta.map(|delta| (delta, reading)))
    }))
}

/// Waits for the whole answer.
pub(super) async fn response<A: Assembler>(mut asked: Asked) -> Result<ChatResponse, ModelError> {
    let mut reading = match Reading::<A>::begin(asked.reply().await?) {
        Ok(reading) => reading,
        Err(refusal) => return Err(refusal.await),
    };
    let mut accumulator = Accumulator::new();
    while reading.go_on().await? {
        reading
            .reader
            .ready
            .drain()
            .for_each(|delta| accumulator.push(delta));
        // A server that never stops must not keep the reader from anything else.
        tokio::task::coop::consume_budget().await;
    }
    accumulator.finish()
}

struct Reading<A> {
    reply: Reply,
    reader: Reader<A>,
    /// How many bytes came so far.
    read: usize,
    /// Handed out after what came before it.
    error: Option<ModelError>,
}

impl<A: Assembler> Reading<A> {
    /// Reads an answer by what it is, whatever was asked for: some servers answer plainly to who
    /// wants a stream.
    fn begin(reply: Reply) -> Result<Self, BoxFuture<'static, ModelError>> {
        if !(200..300).contains(&reply.status()) {
            return Err(Box::pin(refusal::refused(reply)));
        }
        if !reply.encoding().is_empty() {
            let refused = refusal::compressed(&reply);
            return Err(Box::pin(std::future::ready(refused)));
        }
        let media_type = reply.media_type();
        if refusal::is_page(media_type, "") {
            return Err(Box::pin(refusal::not_the_api(reply, A::API)));
        }
        Ok(Self {
            reply,
            reader: Reader::new(A::default()),
            read: 0,
            error: None,
        })
    }

    async fn next(&mut self) -> Result<Option<ModelDelta>, ModelError> {
        loop {
            if let Some(delta) = self.reader.ready.next() {
                return Ok(Some(delta));
            }
            if !self.go_on().await? {
                return Ok(None);
            }
        }
    }

    /// Reads some more; false if the answer is over. What is ready was handed out before.
    async fn go_on(&mut self) -> Result<bool, ModelError> {
        if let Some(error) = self.error.take() {
            return Err(self.told(error));
        }
        if self.reader.is_done() {
            self.reply.drain().await;
            return Ok(false);
        }
        self.error = self.read().await.err();
        Ok(true)
    }

    /// An error of the answer, with what the answer says beside it and without secrets.
    fn told(&self, error: ModelError) -> ModelError {
        let error = match (error.retry_after(), self.reply.retry_after()) {
            (None, Some(wait)) => error.with_retry_after(wait),
            _ => error,
        };
        error.redacted(self.reply.endpoint().secrets())
    }

    async fn read(&mut self) -> Result<(), ModelError> {
        let is_finished = self.reader.is_finished();
        let grace = match is_finished && !self.reader.may_go_on() {
            true => GRACE,
            false => Duration::MAX,
        };
        match self.reply.chunk_within(grace).await {
            Ok(Some(bytes)) => {
                self.read += bytes.len();
                if self.read > MAX_BODY {
                    return Err(self.reply.too_large(MAX_BODY));
                }
                self.reader.take(bytes)
            }
            Ok(None) => self.reader.end(),
            // The answer is whole; only the end of the connection was not as it should be.
            Err(_) if is_finished => self.reader.end(),
            Err(error) => Err(error),
        }
    }
}
