//! Turns the bytes of an answer into deltas, however they are cut. Pure.

use serde::de::IgnoredAny;

use super::ready::Ready;
use super::{Assembler, refusal};
use crate::model::sse::{EventTooLarge, SseParser, text_of};
use crate::model::{Accumulator, ChatResponse, ModelError, ModelErrorKind};

/// What the bytes are: told by the first that says anything, because servers answer plainly to
/// who wants a stream, and name their types wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Unknown { expects_stream: bool },
    Events,
    Plain,
}

/// An answer that is being read.
#[derive(Debug)]
pub(super) struct Reader<A> {
    form: Form,
    /// The plain answer so far.
    held: Vec<u8>,
    parser: SseParser,
    assembler: A,
    /// What can be handed out.
    pub(super) ready: Ready,
}

impl<A: Assembler> Reader<A> {
    pub(super) fn new(assembler: A, expects_stream: bool) -> Self {
        Self {
            form: Form::Unknown { expects_stream },
            held: Vec::new(),
            parser: SseParser::default(),
            assembler,
            ready: Ready::default(),
        }
    }

    /// True once the provider gave its reason; only token counts may still come.
    pub(super) fn is_finished(&self) -> bool {
        self.assembler.is_finished()
    }

    /// True once all that will come is ready.
    pub(super) fn is_done(&self) -> bool {
        self.assembler.is_done()
    }

    /// Takes bytes in.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        match self.form {
            Form::Events => self.events(bytes),
            Form::Plain => {
                self.held.extend_from_slice(bytes);
                Ok(())
            }
            Form::Unknown { expects_stream } => {
                // Blanks keep a connection alive; a byte order mark may stand before both forms.
                let is_mark = |byte: u8| matches!(byte, 0xEF | 0xBB | 0xBF);
                let says = |byte: &u8| !byte.is_ascii_whitespace() && !is_mark(*byte);
                let Some(begin) = bytes.iter().position(says) else {
                    return Ok(());
                };
                let bytes = &bytes[begin..];
                self.form = match bytes[0] {
                    b'<' => return Err(refusal::page_of(A::API)),
                    b'{' | b'[' => Form::Plain,
                    b'd' | b'e' | b'i' | b'r' | b':' => Form::Events,
                    _ if expects_stream => Form::Events,
                    _ => Form::Plain,
                };
                self.take(bytes)
            }
        }
    }

    /// The bytes are over.
    pub(super) fn end(&mut self) -> Result<(), ModelError> {
        match self.form {
            Form::Plain => {
                let body = std::mem::take(&mut self.held);
                self.assembler.plain(&text_of(&body), &mut self.ready)
            }
            _ => {
                self.rest()?;
                self.assembler.eof(&mut self.ready)
            }
        }
    }

    /// Reads what stands behind the last event, as far as it is whole: some servers end their
    /// events with one line feed, or the last one with none.
    fn rest(&mut self) -> Result<(), ModelError> {
        let rest = self.parser.rest();
        let events = match is_whole(&rest) {
            true => vec![&*rest],
            false => rest.lines().take_while(|line| is_whole(line)).collect(),
        };
        for event in events {
            one(&mut self.assembler, event, &mut self.ready)?;
        }
        Ok(())
    }

    fn events(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let (assembler, ready) = (&mut self.assembler, &mut self.ready);
        self.parser.push(bytes, |data| {
            let first = memchr::memchr(b'\n', data.as_bytes()).map(|end| &data[..end]);
            // Some servers part their events by one line feed.
            match first.is_some_and(is_whole) {
                true => data
                    .lines()
                    .try_for_each(|line| one(assembler, line, ready)),
                false => one(assembler, data, ready),
            }
        })
    }
}

/// True for the data of a whole event.
fn is_whole(text: &str) -> bool {
    text.trim() == "[DONE]" || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// True for what some gateways send to keep a connection alive; a comment may stand where data
/// should.
fn is_nothing(data: &str) -> bool {
    matches!(data, "" | "null") || data.starts_with(':')
}

/// Takes one event in. Words behind the reason, such as an end of the server's own, undo nothing.
fn one<A: Assembler>(assembler: &mut A, data: &str, ready: &mut Ready) -> Result<(), ModelError> {
    let data = data.trim();
    if is_nothing(data) {
        return Ok(());
    }
    let was_finished = assembler.is_finished();
    match assembler.event(data, ready) {
        Err(error) if was_finished && error.kind() == ModelErrorKind::Decode => {
            match data.starts_with(['{', '[']) {
                true => Err(error),
                false => Ok(()),
            }
        }
        taken => taken,
    }
}

impl From<EventTooLarge> for ModelError {
    fn from(error: EventTooLarge) -> Self {
        Self::new(ModelErrorKind::Decode, "the stream cannot be read").with_source(error)
    }
}

/// Reads an answer that came in these pieces, with no server behind them.
pub(in crate::model) fn whole<A: Assembler>(
    assembler: A,
    pieces: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> Result<ChatResponse, ModelError> {
    let mut reader = Reader::new(assembler, true);
    for piece in pieces {
        if !reader.is_done() {
            reader.take(piece.as_ref())?;
        }
    }
    if !reader.is_done() {
        reader.end()?;
    }
    let mut accumulator = Accumulator::new();
    while let Some(delta) = reader.ready.next() {
        accumulator.push(delta);
    }
    accumulator.finish()
}
