//! Reads the JSON of an answer: an event of a stream, or a plain answer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::Usage;
use crate::model::reading::loose::{number, text};

type Raw<'a> = Option<&'a RawValue>;

/// An event of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(default, borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) index: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) message: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) content_block: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) delta: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) usage: Raw<'a>,
}

/// A plain answer, or the beginning of a streamed one.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(default, borrow)]
    pub(super) content: Option<Vec<&'a RawValue>>,
    #[serde(default, borrow)]
    pub(super) stop_reason: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) usage: Raw<'a>,
}

/// A block of the content, or a piece of one or of the message itself: its type says which of
/// the fields are there.
#[derive(Debug, Deserialize)]
pub(super) struct Part<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(default, borrow)]
    text: Raw<'a>,
    #[serde(default, borrow)]
    thinking: Raw<'a>,
    #[serde(default, borrow)]
    signature: Raw<'a>,
    #[serde(default, borrow)]
    id: Raw<'a>,
    #[serde(default, borrow)]
    name: Raw<'a>,
    #[serde(default, borrow)]
    input: Raw<'a>,
    #[serde(default, borrow)]
    partial_json: Raw<'a>,
    #[serde(default, borrow)]
    stop_reason: Raw<'a>,
}

fn word(raw: Raw<'_>) -> String {
    raw.and_then(text).unwrap_or_default().into_owned()
}

impl<'a> Message<'a> {
    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }
}

impl<'a> Part<'a> {
    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    pub(super) fn kind(&self) -> String {
        word(self.kind)
    }

    pub(super) fn text(&self) -> String {
        word(self.text)
    }

    pub(super) fn thinking(&self) -> String {
        word(self.thinking)
    }

    /// The signature, or a piece of it; empty if there is none.
    pub(super) fn signature(&self) -> String {
        word(self.signature)
    }

    pub(super) fn id(&self) -> String {
        word(self.id)
    }

    pub(super) fn name(&self) -> String {
        word(self.name)
    }

    /// The text of the input; empty if there is none, which is the rule in a stream.
    pub(super) fn input(&self) -> String {
        match self.input.map(RawValue::get) {
            None | Some("null") => String::new(),
            Some(input) if input.trim_matches(['{', '}', ' ', '\n']).is_empty() => String::new(),
            Some(input) => input.to_owned(),
        }
    }

    /// A piece of the input's text. Some gateways give the input itself.
    pub(super) fn partial_json(&self) -> String {
        match self.partial_json.map(RawValue::get) {
            Some(input) if input.starts_with('{') => input.to_owned(),
            _ => word(self.partial_json),
        }
    }

    pub(super) fn stop_reason(&self) -> Option<String> {
        self.stop_reason.and_then(text).map(Cow::into_owned)
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

#[derive(Debug, Default, Deserialize)]
struct Written<'a> {
    #[serde(default, borrow)]
    input_tokens: Raw<'a>,
    #[serde(default, borrow)]
    output_tokens: Raw<'a>,
    #[serde(default, borrow)]
    cache_read_input_tokens: Raw<'a>,
    #[serde(default, borrow)]
    cache_creation_input_tokens: Raw<'a>,
    #[serde(default, borrow)]
    output_tokens_details: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct Details<'a> {
    #[serde(default, borrow)]
    thinking_tokens: Raw<'a>,
}

impl Counts {
    pub(super) fn take(&mut self, usage: Raw<'_>) {
        let usage = usage.and_then(|usage| serde_json::from_str::<Written<'_>>(usage.get()).ok());
        let usage = usage.unwrap_or_default();
        let details = usage
            .output_tokens_details
            .and_then(|details| serde_json::from_str::<Details<'_>>(details.get()).ok());
        let thinking = details.and_then(|details| details.thinking_tokens);
        for (count, written) in [
            (&mut self.input, usage.input_tokens),
            (&mut self.output, usage.output_tokens),
            (&mut self.cache_read, usage.cache_read_input_tokens),
            (&mut self.cache_write, usage.cache_creation_input_tokens),
            (&mut self.thinking, thinking),
        ] {
            // Some gateways know a count only once, and write 0 the other time.
            let written = written.and_then(number);
            *count = written.filter(|count| *count > 0).or(*count).or(written);
        }
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
