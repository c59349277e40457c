//! Turns the bytes of an answer into deltas, however they are cut. Pure.

use serde::de::IgnoredAny;

use super::ready::Ready;
use super::report::reported;
use super::{Assembler, refusal};
use crate::model::sse::{EventTooLarge, SseParser, text_of};
use crate::model::{Accumulator, ChatResponse, ModelError, ModelErrorKind};

/// What the bytes are: told by the first that says anything, because servers answer plainly to
/// who wants a stream, and name their types wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Unknown,
    Events,
    Plain,
}

/// An answer that is being read.
#[derive(Debug)]
pub(super) struct Reader<A> {
    form: Form,
    /// The plain answer so far, or what does not tell yet what it is.
    held: Vec<u8>,
    parser: SseParser,
    assembler: A,
    /// Words that stood where JSON should, the last ones.
    words: String,
    /// What can be handed out.
    pub(super) ready: Ready,
}

impl<A: Assembler> Reader<A> {
    pub(super) fn new(assembler: A) -> Self {
        Self {
            form: Form::Unknown,
            held: Vec::new(),
            parser: SseParser::default(),
            assembler,
            words: String::new(),
            ready: Ready::default(),
        }
    }

    /// True once the provider gave its reason; only token counts may still come.
    pub(super) fn is_finished(&self) -> bool {
        self.assembler.is_finished()
    }

    /// True if more may come though the provider gave its reason.
    pub(super) fn may_go_on(&self) -> bool {
        self.assembler.may_go_on()
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
            Form::Unknown if self.held.is_empty() => {
                let bytes = said(bytes);
                match form_of(bytes) {
                    Form::Unknown => {
                        self.held.extend_from_slice(bytes);
                        Ok(())
                    }
                    form => self.begin(form, bytes),
                }
            }
            Form::Unknown => {
                self.held.extend_from_slice(bytes);
                match form_of(&self.held) {
                    Form::Unknown => Ok(()),
                    form => {
                        let held = std::mem::take(&mut self.held);
                        self.begin(form, &held)
                    }
                }
            }
        }
    }

    fn begin(&mut self, form: Form, bytes: &[u8]) -> Result<(), ModelError> {
        if bytes.first() == Some(&b'<') {
            return Err(refusal::page_of(A::API));
        }
        self.form = form;
        self.take(bytes)
    }

    /// The bytes are over.
    pub(super) fn end(&mut self) -> Result<(), ModelError> {
        match self.form {
            Form::Unknown if self.held.is_empty() => self.eof(),
            Form::Plain | Form::Unknown => {
                let body = std::mem::take(&mut self.held);
                self.plain(&text_of(&body))
            }
            Form::Events => {
                self.rest()?;
                self.eof()
            }
        }
    }

    fn plain(&mut self, body: &str) -> Result<(), ModelError> {
        let text = body.trim();
        let is_json = is_json(text.as_bytes());
        let first = memchr::memchr(b'\n', text.as_bytes()).map(|end| &text[..end]);
        if is_json && first.is_some_and(is_whole) {
            // Some gateways write the events of a stream without the fields around them.
            // https://github.com/comet-ml/opik/pull/5149
            self.lines(body)?;
            return self.eof();
        }
        if !is_json && text.lines().any(|line| line.starts_with("data:")) {
            // Words before a stream are read over, as its standard says.
            self.events(body.as_bytes())?;
            self.rest()?;
            return self.eof();
        }
        let read = self.assembler.plain(body, &mut self.ready);
        read.map_err(|error| match error.kind() {
            ModelErrorKind::Decode if !is_json => refusal::ended_with(error, text),
            _ => error,
        })
    }

    fn eof(&mut self) -> Result<(), ModelError> {
        let over = self.assembler.eof(&mut self.ready);
        match &*self.words {
            "" => over,
            words => over.map_err(|error| refusal::ended_with(error, words)),
        }
    }

    /// Reads what stands behind the last event, as far as it is whole: some servers end their
    /// events with one line feed, or the last one with none.
    fn rest(&mut self) -> Result<(), ModelError> {
        let rest = self.parser.rest();
        match is_whole(&rest) {
            true => self.one(&rest),
            false => {
                let end = rest.lines().take_while(|line| is_whole(line));
                let end = end.map(|line| line.len() + 1).sum::<usize>();
                self.lines(rest.get(..end).unwrap_or(&rest))
            }
        }
    }

    fn lines(&mut self, text: &str) -> Result<(), ModelError> {
        text.lines().try_for_each(|line| self.one(line))
    }

    fn one(&mut self, data: &str) -> Result<(), ModelError> {
        one(&mut self.assembler, data, &mut self.words, &mut self.ready)
    }

    fn events(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let (assembler, words, ready) = (&mut self.assembler, &mut self.words, &mut self.ready);
        self.parser.push(bytes, |data| {
            let first = memchr::memchr(b'\n', data.as_bytes()).map(|end| &data[..end]);
            // Some servers part their events by one line feed.
            match first.is_some_and(is_whole) {
                true => data
                    .lines()
                    .try_for_each(|line| one(assembler, line, words, ready)),
                false => one(assembler, data, words, ready),
            }
        })
    }
}

/// What comes behind blanks, which keep a connection alive, and behind the byte order mark that may
/// stand before both forms.
fn said(bytes: &[u8]) -> &[u8] {
    let is_mark = |byte: u8| matches!(byte, 0xEF | 0xBB | 0xBF);
    let says = |byte: &u8| !byte.is_ascii_whitespace() && !is_mark(*byte);
    let begin = bytes.iter().position(says).unwrap_or(bytes.len());
    &bytes[begin..]
}

/// What an answer is that begins so: a stream of events begins with a comment or a field.
fn form_of(bytes: &[u8]) -> Form {
    const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b"error"];
    let end = bytes
        .iter()
        .position(|byte| matches!(byte, b':' | b'\n' | b'\r'));
    let name = &bytes[..end.unwrap_or(bytes.len())];
    match end {
        // It may go on.
        None if FIELDS.iter().any(|field| field.starts_with(name)) => Form::Unknown,
        Some(_) if name.is_empty() || FIELDS.contains(&name) => Form::Events,
        _ => Form::Plain,
    }
}

/// True for the data of a whole event.
fn is_whole(text: &str) -> bool {
    text.trim() == "[DONE]" || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// True for what begins as an object or a list does; a word may stand in brackets, too.
fn is_json(text: &[u8]) -> bool {
    match text {
        [b'{', ..] => true,
        [b'[', next, ..] => !next.is_ascii_alphabetic(),
        _ => false,
    }
}

/// True for what some gateways send to keep a connection alive; a comment may stand where data
/// should.
fn is_nothing(data: &str) -> bool {
    matches!(data, "" | "null") || data.starts_with(':')
}

/// Takes one event in. Words where JSON should stand, such as a sign of life or an end of the
/// server's own, are no part of an answer; what they say is told if none comes.
fn one<A: Assembler>(
    assembler: &mut A,
    data: &str,
    words: &mut String,
    ready: &mut Ready,
) -> Result<(), ModelError> {
    let data = data.trim();
    if is_nothing(data) {
        return Ok(());
    }
    let was_finished = assembler.is_finished();
    let error = match assembler.event(data, ready) {
        Err(error) if error.kind() == ModelErrorKind::Decode => error,
        taken => return taken,
    };
    match data {
        data if is_json(data.as_bytes()) => {
            // An error may be written into an event that was not whole.
            // https://github.com/Wei-Shaw/sub2api/issues/1471
            let last = data.lines().next_back().filter(|last| *last != data);
            Err(last.and_then(reported).unwrap_or(error))
        }
        _ if was_finished => Ok(()),
        data => match refusal::in_words(data) {
            Some(error) => Err(error),
            None => {
                data.clone_into(words);
                Ok(())
            }
        },
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
    let mut reader = Reader::new(assembler);
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
