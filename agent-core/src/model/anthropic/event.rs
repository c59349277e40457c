//! Reads the JSON of an answer: an event of a stream, or a plain answer.
//!
//! A field that is of another kind than it should be is as good as absent.

use std::borrow::Cow;

use crate::model::Usage;
use crate::model::reading::cut::Cut;
use crate::model::reading::json::{Json, NotJson};

/// An event of a stream. What comes once only is read by whoever needs it.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) index: Option<u64>,
    pub(super) message: Option<&'a str>,
    pub(super) content_block: Option<&'a str>,
    has_delta: bool,
    delta: Part<'a>,
    pub(super) usage: Option<&'a str>,
}

/// A plain answer, or the beginning of a streamed one.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) id: Cow<'a, str>,
    /// The model that answers, by the name its server gives it.
    pub(super) model: Cow<'a, str>,
    pub(super) content: Option<&'a str>,
    pub(super) stop_reason: Option<Cow<'a, str>>,
    pub(super) usage: Option<&'a str>,
}

/// A block of the content, or a piece of one or of the message itself: its type says which of
/// the fields are there.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) text: Cut<'a>,
    pub(super) thinking: Cut<'a>,
    /// The signature, or a piece of it; empty if there is none.
    pub(super) signature: Cow<'a, str>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    input: Option<&'a str>,
    /// A piece of the input's text. Some gateways give the input itself.
    pub(super) partial_json: Cut<'a>,
    pub(super) stop_reason: Option<Cow<'a, str>>,
}

impl<'a> Event<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, NotJson> {
        let mut json = Json::new(text);
        let mut event = Self::default();
        // One provider wraps its errors in a list, in which nothing is found here.
        let is_list = json.peek() == b'[';
        if json.object()? {
            while let Some(key) = json.key()? {
                match key {
                    "type" => event.kind = json.said()?,
                    "index" => event.index = json.number()?,
                    "message" => event.message = json.any()?,
                    "content_block" => event.content_block = json.any()?,
                    "delta" => event.has_delta = event.delta.take(&mut json)?,
                    "usage" => event.usage = json.any()?,
                    _ => json.skip()?,
                }
            }
        } else if !is_list {
            return Err(NotJson);
        }
        json.end()?;
        Ok(event)
    }

    pub(super) fn delta(&mut self) -> Option<&mut Part<'a>> {
        self.has_delta.then_some(&mut self.delta)
    }
}

impl<'a> Message<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, NotJson> {
        let mut json = Json::new(text);
        let mut message = Self::default();
        if !json.object()? {
            return Err(NotJson);
        }
        while let Some(key) = json.key()? {
            match key {
                "id" => message.id = json.said()?,
                "model" => message.model = json.said()?,
                "content" => message.content = json.any()?,
                "stop_reason" => message.stop_reason = json.text()?,
                "usage" => message.usage = json.any()?,
                _ => json.skip()?,
            }
        }
        json.end()?;
        Ok(message)
    }
}

impl<'a> Part<'a> {
    /// Reads an object; `None` if it is none.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut part = Self::default();
        let is_object = part.take(&mut Json::new(text));
        is_object.is_ok_and(|it| it).then_some(part)
    }

    /// False if no object comes.
    fn take(&mut self, json: &mut Json<'a>) -> Result<bool, NotJson> {
        if !json.object()? {
            return Ok(false);
        }
        while let Some(key) = json.key()? {
            match key {
                "type" => self.kind = json.said()?,
                "text" => self.text = json.piece()?,
                "thinking" => self.thinking = json.piece()?,
                "signature" => self.signature = json.said()?,
                "id" => self.id = json.said()?,
                "name" => self.name = json.said()?,
                "input" => self.input = json.any()?,
                "partial_json" if json.peek() == b'{' => {
                    self.partial_json = Cow::Borrowed(json.raw()?).into();
                }
                "partial_json" => self.partial_json = json.piece()?,
                "stop_reason" => self.stop_reason = json.text()?,
                _ => json.skip()?,
            }
        }
        Ok(true)
    }

    /// The text of the input; empty if there is none, which is the rule in a stream.
    pub(super) fn input(&self) -> &'a str {
        let is_blank = |input: &&str| input.trim_matches(['{', '}', ' ', '\n']).is_empty();
        self.input.filter(|it| !is_blank(it)).unwrap_or_default()
    }
}

/// The token counts so far: they are sums, and later ones replace earlier ones.
#[derive(Debug, Default)]
pub(super) struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    /// Takes in what stands in `usage`.
    pub(super) fn take(&mut self, usage: Option<&str>) {
        // It was read before, so it is JSON.
        let _ = usage.map_or(Ok(()), |usage| self.read(&mut Json::new(usage)));
    }

    fn read(&mut self, json: &mut Json<'_>) -> Result<(), NotJson> {
        if !json.object()? {
            return Ok(());
        }
        while let Some(key) = json.key()? {
            let (count, written) = match key {
                "input_tokens" => (&mut self.input, json.number()?),
                "output_tokens" => (&mut self.output, json.number()?),
                "cache_read_input_tokens" => (&mut self.cache_read, json.number()?),
                "cache_creation_input_tokens" => (&mut self.cache_write, json.number()?),
                "output_tokens_details" => (
                    &mut self.thinking,
                    json.member("thinking_tokens", Json::number)?,
                ),
                _ => {
                    json.skip()?;
                    continue;
                }
            };
            // Some gateways know a count only once, and write 0 the other time.
            *count = written.filter(|count| *count > 0).or(*count).or(written);
        }
        Ok(())
    }

    /// The counts as all providers are told: what was cached is a part of the input.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.input.or(self.output)?;
        let [input, output] = [self.input, self.output].map(Option::unwrap_or_default);
        let [read, write] = [self.cache_read, self.cache_write].map(Option::unwrap_or_default);
        let mut usage = Usage::new(input.saturating_add(read).saturating_add(write), output);
        usage.cached_input_tokens = read;
        usage.cache_write_input_tokens = write;
        usage.reasoning_tokens = self.thinking.unwrap_or_default();
        Some(usage)
    }
}
