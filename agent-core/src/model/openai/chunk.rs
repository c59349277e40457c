//! Reads the JSON of an answer: a chunk of a stream, or a plain answer, which is one chunk.
//!
//! Servers differ in every field, so each is read alone and only when it is needed; one that
//! cannot be read is as good as absent. Numbers keep their digits, because nothing passes
//! through a float.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::Usage;
use crate::model::reading::loose::{number, object, parts, text, thinking};

type Raw<'a> = Option<&'a RawValue>;

/// A chunk of a stream or a plain answer.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(default, borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(default, borrow)]
    usage: Raw<'a>,
    #[serde(default, borrow)]
    x_groq: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) error: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default, borrow)]
    index: Raw<'a>,
    #[serde(default, borrow)]
    pub(super) delta: Option<Piece<'a>>,
    #[serde(default, borrow)]
    pub(super) message: Option<Piece<'a>>,
    #[serde(default, borrow)]
    finish_reason: Raw<'a>,
    #[serde(default, borrow)]
    usage: Raw<'a>,
}

/// What a delta or a message says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(default, borrow)]
    content: Raw<'a>,
    #[serde(default, borrow)]
    refusal: Raw<'a>,
    #[serde(default, borrow)]
    reasoning_content: Raw<'a>,
    #[serde(default, borrow)]
    reasoning: Raw<'a>,
    #[serde(default, borrow)]
    tool_calls: Raw<'a>,
    #[serde(default, borrow)]
    function_call: Raw<'a>,
}

/// A piece of a tool call.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) extra: BTreeMap<String, Value>,
}

impl Chunk<'_> {
    /// The token counts, wherever the server put them.
    pub(super) fn usage(&self) -> Option<Usage> {
        let choices = self.choices.iter().flatten();
        let inside = choices.filter_map(|choice| choice.usage).next_back();
        let groq = || object(self.x_groq?)?.remove("usage").and_then(usage);
        self.usage
            .and_then(usage)
            .or_else(|| inside.and_then(usage))
            .or_else(groq)
    }
}

impl Choice<'_> {
    /// True for the one choice we read; we ask for no more.
    pub(super) fn is_first(&self) -> bool {
        self.index.and_then(number).unwrap_or(0) == 0
    }

    pub(super) fn finish_reason(&self) -> Option<String> {
        self.finish_reason
            .and_then(text)
            .filter(|word| !word.is_empty())
    }
}

impl Piece<'_> {
    /// The visible text: a string or the text parts of a list. A refusal is an answer too.
    pub(super) fn text(&self) -> String {
        let content = self.content.map(parts).unwrap_or_default();
        match self.refusal.and_then(text) {
            Some(refusal) if content.is_empty() => refusal,
            _ => content,
        }
    }

    pub(super) fn reasoning(&self) -> String {
        let read = |field: Raw<'_>| field.and_then(text).filter(|text| !text.is_empty());
        read(self.reasoning_content)
            .or_else(|| read(self.reasoning))
            .or_else(|| self.content.map(thinking))
            .unwrap_or_default()
    }

    /// The calls, or the one call of the form before there could be several.
    pub(super) fn fragments(&self) -> Vec<Fragment> {
        let calls = self.tool_calls.map(RawValue::get).unwrap_or_default();
        if calls.starts_with('[') {
            let calls: Vec<&RawValue> = serde_json::from_str(calls).unwrap_or_default();
            return calls.into_iter().filter_map(fragment).collect();
        }
        let only = self.function_call.and_then(object);
        let only = only.map(|function| {
            let mut fragment = Fragment::default();
            fragment.take(function);
            fragment
        });
        only.into_iter().collect()
    }
}

impl Fragment {
    fn take(&mut self, mut function: BTreeMap<String, &RawValue>) {
        self.name = function.remove("name").and_then(text).unwrap_or_default();
        self.arguments = function
            .remove("arguments")
            .map(arguments)
            .unwrap_or_default();
    }
}

fn fragment(raw: &RawValue) -> Option<Fragment> {
    let mut fragment = Fragment::default();
    for (key, value) in object(raw)? {
        match &*key {
            "index" => fragment.index = number(value),
            "id" => fragment.id = text(value).unwrap_or_default(),
            "type" => {}
            "function" => fragment.take(object(value).unwrap_or_default()),
            _ => {
                if let Ok(
                    value @ (Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_)),
                ) = serde_json::from_str(value.get())
                {
                    fragment.extra.insert(key, value);
                }
            }
        }
    }
    Some(fragment)
}

/// Arguments are a JSON text in a string; some servers send the object itself.
fn arguments(raw: &RawValue) -> String {
    match raw.get() {
        "null" => String::new(),
        string if string.starts_with('"') => text(raw).unwrap_or_default(),
        other => other.to_owned(),
    }
}

fn usage(raw: &RawValue) -> Option<Usage> {
    let usage: Value = serde_json::from_str(raw.get()).ok()?;
    let count = |paths: [&str; 2]| {
        let found = paths.iter().filter_map(|path| usage.pointer(path));
        // A count may be written as 12.0.
        found
            .filter_map(|count| count.as_u64().or_else(|| count.as_f64().map(|n| n as u64)))
            .next()
    };
    let input = count(["/prompt_tokens", "/input_tokens"]);
    let output = count(["/completion_tokens", "/output_tokens"]);
    let total = count(["/total_tokens", "/total_tokens"]);
    if input.is_none() && output.is_none() && total.is_none() {
        return None;
    }
    let mut read = Usage::new(input.unwrap_or(0), output.unwrap_or(0));
    read.total_tokens = total.unwrap_or(read.total_tokens);
    let cached = [
        "/prompt_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
    ];
    read.cached_input_tokens = count(cached).unwrap_or(0);
    let reasoning = [
        "/completion_tokens_details/reasoning_tokens",
        "/reasoning_tokens",
    ];
    read.reasoning_tokens = count(reasoning).unwrap_or(0);
    Some(read)
}
