//! Whether an answer is of its form.

use std::collections::HashMap;

#[cfg(feature = "validate")]
use jsonschema::Validator;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ANSWER, OutputError};
use crate::event::without_thoughts;
use crate::schema::SchemaError;

/// How many faults the model is told.
#[cfg(feature = "validate")]
const MOST_FAULTS: usize = 10;

/// How many brackets between the words of an answer are looked at.
const MOST_BRACKETS: usize = 100;

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
        let values = values_in(answer).map_err(|error| format!("it is no JSON: {error}"))?;
        let mut found = None;
        let mut fault = String::new();
        for json in values {
            match self.read(json) {
                Ok(json) if found.as_ref().is_some_and(|other| *other != json) => {
                    return Err("it holds more than one answer".to_owned());
                }
                Ok(json) => found = Some(json),
                Err(error) => fault = error,
            }
        }
        found.ok_or(fault)
    }

    /// The answer that this JSON is.
    fn read(&self, json: &str) -> Result<String, String> {
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

/// The answer if it is JSON, or the JSON values in it, be they in a fence of Markdown or between
/// some words. Thoughts in front, which some servers leave in the text, are no part of it.
fn values_in(answer: &str) -> Result<Vec<&str>, serde_json::Error> {
    let whole = answer.trim();
    let no_json = match serde_json::from_str::<&RawValue>(whole) {
        Ok(json) => return Ok(vec![json.get()]),
        Err(error) => error,
    };
    let mut rest = without_thoughts(whole);
    let mut values = Vec::new();
    for _ in 0..MOST_BRACKETS {
        let Some(place) = rest.find(['{', '[']) else {
            break;
        };
        rest = &rest[place..];
        let mut read = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match read.next() {
            Some(Ok(json)) => {
                values.push(json.get());
                rest = &rest[read.byte_offset()..];
            }
            // A part of what is broken is not what was meant.
            Some(Err(error)) if is_begun(rest) => return Err(error),
            _ => rest = &rest[1..],
        }
    }
    match values.is_empty() {
        true => Err(no_json),
        false => Ok(values),
    }
}

/// True if this is an object or a list that begins, and no bracket of a sentence.
fn is_begun(text: &str) -> bool {
    let inner = text[1..].trim_start();
    inner.starts_with('"') || (text.starts_with('[') && inner.starts_with(['{', '[']))
}
