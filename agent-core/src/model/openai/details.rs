//! Reasoning in the structured form of OpenRouter, to be sent back as it came.
//!
//! "Preserving reasoning": the list must be the one that the model gave, in order and unchanged,
//! or providers refuse a loop of tool calls. In a stream its texts come in pieces.
//! <https://openrouter.ai/docs/use-cases/reasoning-tokens>

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::count_values;
use crate::message::OpaquePart;
use crate::model::reading::MAX_PARTS;
use crate::model::reading::quoted::without_lone_surrogates;

/// By whom a part of an answer is told to be such a list.
const PROVIDER: &str = "openrouter";

/// The list as far as it came.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
    /// How many values there are in it.
    values: usize,
}

#[derive(Debug)]
struct Detail {
    fields: Map<String, Value>,
    /// As it came, unless it came in pieces.
    raw: Option<String>,
}

impl Details {
    /// How many parts there are, and values in them. Those above the bound are left out.
    pub(super) fn parts(&self) -> usize {
        self.values
    }

    /// Takes a part in, and gives what it says.
    pub(super) fn take(&mut self, raw: &str) -> Option<String> {
        let values = count_values(raw).max(1);
        if self.values + values > MAX_PARTS {
            self.values = MAX_PARTS + 1;
            return None;
        }
        let raw = without_lone_surrogates(raw);
        let fields: Map<String, Value> = serde_json::from_str(&raw).unwrap_or_default();
        let said = text_key(&fields).and_then(|key| fields.get(key)?.as_str().map(str::to_owned));
        match self.list.last_mut() {
            Some(last) if last.goes_on_with(&fields) => {
                // What a flat piece holds is added to what is there.
                let (inner, before) = (values.saturating_sub(fields.len()), last.fields.len());
                last.add(fields);
                self.values += inner + last.fields.len() - before;
            }
            _ => {
                self.values += values;
                self.list.push(Detail {
                    fields,
                    raw: Some(raw.into_owned()),
                });
            }
        }
        said
    }

    /// The list, if there is one.
    pub(super) fn end(&mut self) -> Option<OpaquePart> {
        let details = std::mem::take(&mut self.list);
        if details.is_empty() {
            return None;
        }
        let details = details.into_iter().map(|detail| match detail.raw {
            Some(raw) => raw,
            None => Value::from(detail.fields).to_string(),
        });
        let details: Vec<String> = details.collect();
        let json = format!("[{}]", details.join(","));
        Some(OpaquePart::new(PROVIDER, json))
    }
}

impl Detail {
    /// True if these are more of the same text.
    fn goes_on_with(&self, fields: &Map<String, Value>) -> bool {
        let same = |key: &str| self.fields.get(key) == fields.get(key);
        self.text_key() == text_key(fields) && self.text_key().is_some() && same("index")
    }

    fn text_key(&self) -> Option<&'static str> {
        text_key(&self.fields)
    }

    fn add(&mut self, fields: Map<String, Value>) {
        self.raw = None;
        let text_key = self.text_key();
        for (key, value) in fields {
            match (self.fields.get_mut(&key), value) {
                (_, Value::Null) => {}
                (Some(Value::String(text)), Value::String(more)) if Some(&*key) == text_key => {
                    text.push_str(&more);
                }
                (_, value) => drop(self.fields.insert(key, value)),
            }
        }
    }
}

/// The field that holds the text of such a piece, if it has one.
fn text_key(fields: &Map<String, Value>) -> Option<&'static str> {
    match fields.get("type")?.as_str()? {
        "reasoning.text" => Some("text"),
        "reasoning.summary" => Some("summary"),
        _ => None,
    }
}

/// The list of an answer, if it has one.
pub(super) fn of(parts: &[OpaquePart]) -> Option<&RawValue> {
    let part = parts.iter().find(|part| part.provider == PROVIDER)?;
    serde_json::from_str(&part.json).ok()
}
