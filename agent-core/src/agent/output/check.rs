//! Whether an answer is of its form.

use std::collections::HashMap;

#[cfg(feature = "validate")]
use jsonschema::Validator;
use serde_json::Value;
use serde_json::value::RawValue;

use super::values::values_in;
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
        let values = values_in(answer).map_err(|error| format!("it is no JSON: {error}"))?;
        let mut found: Option<String> = None;
        let mut fault = String::new();
        for json in values {
            match self.read(json) {
                Ok(json) if found.as_ref().is_some_and(|other| !is_same(other, &json)) => {
                    return Err("it holds more than one answer".to_owned());
                }
                Ok(json) => found = Some(json),
                // What is wrong with a bracket of a sentence helps nobody.
                Err(error) if fault.is_empty() || is_object(json) => fault = error,
                Err(_) => {}
            }
        }
        found.ok_or(fault)
    }

    /// The answer that this JSON is.
    fn read(&self, json: &str) -> Result<String, String> {
        #[cfg(feature = "validate")]
        self.validate(json)?;
        // Every form is an object, but a struct is read from a list, too.
        if !is_object(json) {
            return Err("it is no object".to_owned());
        }
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

fn is_object(json: &str) -> bool {
    json.starts_with('{')
}

/// True if both are one value, however it is written.
fn is_same(one: &str, other: &str) -> bool {
    let value = |json| serde_json::from_str::<Value>(json).ok();
    one == other || value(one).is_some_and(|it| value(other) == Some(it))
}

#[cfg(feature = "validate")]
fn text(error: &jsonschema::ValidationError<'_>) -> String {
    match error.instance_path().as_str() {
        "" => error.to_string(),
        path => format!("`{path}`: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_no_answer_though_a_struct_can_be_read_from_it() {
        #[derive(Deserialize)]
        struct Days {
            #[expect(dead_code, reason = "only that it is read is of interest")]
            days: u8,
        }
        let schema = json!({
            "type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"],
        });
        let read: Read = |text| serde_json::from_str::<Days>(text).map(drop);
        let check = Check::new(&schema, false, Some(read)).unwrap();

        let days = r#"{"days":3}"#;
        assert_eq!(check.accept(&format!("See [1]: {days}")).unwrap(), days);
        assert!(check.accept("[1]").is_err());
    }
}
