//! Whether an answer is of its form.

use std::collections::HashMap;

#[cfg(feature = "validate")]
use jsonschema::Validator;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ANSWER, OutputError};
use crate::schema::SchemaError;

/// How many faults the model is told.
#[cfg(feature = "validate")]
const MOST_FAULTS: usize = 10;

/// Reads the answer as the type it is to be.
pub(super) type Read = fn(&str) -> Result<(), serde_json::Error>;

/// What an answer is held against.
pub(in crate::agent) struct Check {
    /// True if the value is the one property of an object.
    pub(super) is_wrapped: bool,
    read: Option<Read>,
    #[cfg(feature = "validate")]
    validator: Validator,
}

impl Check {
    pub(super) fn new(
        schema: &Value,
        is_wrapped: bool,
        read: Option<Read>,
    ) -> Result<Self, SchemaError> {
        #[cfg(not(feature = "validate"))]
        let _ = schema;
        Ok(Self {
            is_wrapped,
            read,
            #[cfg(feature = "validate")]
            validator: crate::tool::validator(schema)?,
        })
    }

    /// The JSON of the answer, without what stands around it.
    pub(super) fn accept(&self, answer: &str) -> Result<String, OutputError> {
        self.find(answer).map_err(|fault| OutputError {
            fault,
            answer: answer.to_owned(),
        })
    }

    fn find(&self, answer: &str) -> Result<String, String> {
        if answer.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        let json = json_in(answer).map_err(|error| format!("it is no JSON: {error}"))?;
        #[cfg(feature = "validate")]
        self.validate(json)?;
        let json = match self.is_wrapped {
            false => json,
            true => {
                let members: HashMap<&str, &RawValue> =
                    serde_json::from_str(json).map_err(|error| error.to_string())?;
                let answer = members.get(ANSWER);
                answer
                    .ok_or_else(|| format!("`{ANSWER}` is missing"))?
                    .get()
            }
        };
        if let Some(read) = self.read {
            read(json).map_err(|error| error.to_string())?;
        }
        Ok(json.to_owned())
    }

    #[cfg(feature = "validate")]
    fn validate(&self, json: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut errors = self.validator.iter_errors(&value);
        let faults = errors.by_ref().take(MOST_FAULTS);
        let faults: Vec<String> = faults.map(|error| text(&error)).collect();
        if faults.is_empty() {
            return Ok(());
        }
        let more = if errors.next().is_some() { "; …" } else { "" };
        Err(faults.join("; ") + more)
    }
}

#[cfg(feature = "validate")]
fn text(error: &jsonschema::ValidationError<'_>) -> String {
    match error.instance_path().as_str() {
        "" => error.to_string(),
        path => format!("`{path}`: {error}"),
    }
}

/// The answer if it is JSON, or the JSON in it: in the fence of Markdown, or between some words.
fn json_in(answer: &str) -> Result<&str, serde_json::Error> {
    let whole = answer.trim();
    let error = match read(whole) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    let between = |open: char, close: char| {
        let (from, to) = (whole.find(open)?, whole.rfind(close)?);
        read(whole.get(from..=to)?).ok()
    };
    let inner = fenced(whole).and_then(|inner| read(inner).ok());
    let inner = inner.or_else(|| between('{', '}'));
    inner.or_else(|| between('[', ']')).ok_or(error)
}

fn read(text: &str) -> Result<&str, serde_json::Error> {
    serde_json::from_str::<&RawValue>(text.trim()).map(RawValue::get)
}

/// What stands in the first fence of Markdown.
fn fenced(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    rest.split_once("```").map(|(inner, _)| inner)
}
