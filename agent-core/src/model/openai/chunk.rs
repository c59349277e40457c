//! Reads the JSON of an answer: a chunk of a stream, or a plain answer, which is one chunk.
//!
//! Servers differ in every field, so one that is of another kind than it should be is as good as
//! absent. Numbers keep their digits, because nothing passes through a float.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::model::Usage;
use crate::model::reading::loose::{Fields, Hoped, Kind, Number, Parts, Text, text};

type Raw<'a> = Option<&'a RawValue>;

/// A chunk of a stream or a plain answer.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(default, borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Hoped<Fields<Counts>>,
    #[serde(default)]
    x_groq: Hoped<Fields<Groq>>,
    #[serde(default, borrow)]
    pub(super) error: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct Groq {
    #[serde(default)]
    usage: Hoped<Fields<Counts>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    index: Number,
    #[serde(default, borrow)]
    pub(super) delta: Option<Piece<'a>>,
    #[serde(default, borrow)]
    pub(super) message: Option<Piece<'a>>,
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
    /// Where one provider says what went wrong.
    #[serde(default, borrow)]
    pub(super) error: Raw<'a>,
    #[serde(default)]
    usage: Hoped<Fields<Counts>>,
}

/// What a delta or a message says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(default, borrow)]
    content: Hoped<Parts<'a>>,
    #[serde(default, borrow)]
    refusal: Text<'a>,
    #[serde(default, borrow)]
    reasoning_content: Text<'a>,
    #[serde(default, borrow)]
    reasoning: Text<'a>,
    #[serde(default, borrow)]
    reasoning_details: Hoped<Vec<&'a RawValue>>,
    #[serde(default, borrow)]
    tool_calls: Hoped<Vec<Hoped<Fragment<'a>>>>,
    #[serde(default, borrow)]
    function_call: Hoped<Fields<Function<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
struct Function<'a> {
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default, borrow)]
    arguments: Raw<'a>,
}

/// A piece of a tool call.
#[derive(Debug, Default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cow<'a, str>,
    pub(super) extra: Map<String, Value>,
}

impl Chunk<'_> {
    /// The token counts, wherever the server put them.
    pub(super) fn usage(&self) -> Option<Usage> {
        let usage = |counts: &Hoped<Fields<Counts>>| counts.0.as_ref()?.0.usage();
        let mut choices = self.choices.iter().flatten().rev();
        let groq = || usage(&self.x_groq.0.as_ref()?.0.usage);
        usage(&self.usage)
            .or_else(|| choices.find_map(|choice| usage(&choice.usage)))
            .or_else(groq)
    }
}

impl Choice<'_> {
    /// True for the one choice we read; we ask for no more.
    pub(super) fn is_first(&self) -> bool {
        self.index.0.unwrap_or(0) == 0
    }

    pub(super) fn finish_reason(&self) -> Option<&str> {
        let word = self.finish_reason.0.as_deref();
        word.filter(|word| !word.is_empty())
    }
}

impl<'a> Piece<'a> {
    /// The visible text: a string or the text parts of a list. A refusal is an answer too.
    pub(super) fn text(&self) -> &str {
        let content = self.content.0.as_ref().map_or("", |parts| &parts.text);
        match &self.refusal.0 {
            Some(refusal) if content.is_empty() => refusal,
            _ => content,
        }
    }

    pub(super) fn reasoning(&self) -> &str {
        let among_parts = || self.content.0.as_ref().map(|parts| &*parts.thinking);
        let own = [&self.reasoning_content, &self.reasoning];
        let own = own
            .into_iter()
            .find_map(|text| text.0.as_deref().filter(|text| !text.is_empty()));
        own.or_else(among_parts).unwrap_or_default()
    }

    /// The signed and structured form of the reasoning, as one provider gives it.
    pub(super) fn reasoning_details(&self) -> &[&'a RawValue] {
        self.reasoning_details.0.as_deref().unwrap_or_default()
    }

    /// The calls, or the one call of the form before there could be several.
    pub(super) fn into_fragments(self) -> impl Iterator<Item = Fragment<'a>> {
        let only = match &self.tool_calls.0 {
            Some(calls) if !calls.is_empty() => None,
            _ => self.function_call.0,
        };
        let only = only.map(|Fields(function)| {
            let mut fragment = Fragment::default();
            fragment.take(function);
            fragment
        });
        let calls = self.tool_calls.0.into_iter().flatten();
        calls.filter_map(|Hoped(fragment)| fragment).chain(only)
    }
}

impl<'a> Fragment<'a> {
    /// True if nothing but a name tells which call this is a piece of.
    pub(super) fn is_named_only(&self) -> bool {
        self.index.is_none() && self.id.is_empty() && !self.name.is_empty()
    }

    fn take(&mut self, function: Function<'a>) {
        self.name = function.name.0.unwrap_or_default();
        self.arguments = function.arguments.map(arguments).unwrap_or_default();
    }
}

impl<'a, 'de: 'a> Kind<'de> for Fragment<'a> {
    fn of_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        let mut fragment = Self::default();
        while let Some(Hoped(key)) = object.next_key::<Text<'a>>()? {
            match &*key.unwrap_or_default() {
                "index" => fragment.index = object.next_value::<Number>()?.0,
                "id" => fragment.id = object.next_value::<Text<'a>>()?.0.unwrap_or_default(),
                "type" => drop(object.next_value::<IgnoredAny>()?),
                "function" => {
                    let function = object.next_value::<Hoped<Fields<Function<'a>>>>()?.0;
                    if let Some(Fields(function)) = function {
                        fragment.take(function);
                    }
                }
                key => match object.next_value()? {
                    Value::Null => {}
                    value => drop(fragment.extra.insert(key.to_owned(), value)),
                },
            }
        }
        Ok(Some(fragment))
    }
}

/// Arguments are a JSON text in a string; some servers send the object itself.
fn arguments(raw: &RawValue) -> Cow<'_, str> {
    match raw.get() {
        "null" => Cow::default(),
        string if string.starts_with('"') => text(raw).unwrap_or_default(),
        other => other.into(),
    }
}

/// Token counts under all names they have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    prompt_tokens: Number,
    input_tokens: Number,
    completion_tokens: Number,
    output_tokens: Number,
    total_tokens: Number,
    prompt_tokens_details: Hoped<Fields<Details>>,
    prompt_cache_hit_tokens: Number,
    completion_tokens_details: Hoped<Fields<Details>>,
    reasoning_tokens: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Number,
    reasoning_tokens: Number,
}

impl Counts {
    fn usage(&self) -> Option<Usage> {
        let input = self.prompt_tokens.0.or(self.input_tokens.0);
        let output = self.completion_tokens.0.or(self.output_tokens.0);
        let total = self.total_tokens.0;
        input.or(output).or(total)?;
        let mut read = Usage::new(input.unwrap_or(0), output.unwrap_or(0));
        read.total_tokens = total.unwrap_or(read.total_tokens);
        let of_input = self.prompt_tokens_details.0.as_ref();
        let cached = of_input.and_then(|Fields(details)| details.cached_tokens.0);
        let cached = cached.or(self.prompt_cache_hit_tokens.0);
        read.cached_input_tokens = cached.unwrap_or(0);
        let of_output = self.completion_tokens_details.0.as_ref();
        let reasoning = of_output.and_then(|Fields(details)| details.reasoning_tokens.0);
        let reasoning = reasoning.or(self.reasoning_tokens.0);
        read.reasoning_tokens = reasoning.unwrap_or(0);
        Some(read)
    }
}
