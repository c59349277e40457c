//! Whether an answer is of its form.

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::fits::Fits;
use super::values::values_in;
use super::{ANSWER, OutputError};

/// Reads the answer as the type it is to be.
pub(super) type Read = fn(&str) -> Result<(), serde_json::Error>;

/// What an answer is held against.
pub(in crate::agent) struct Check {
    /// True if the value is the one property of an object.
    pub(super) is_wrapped: bool,
    read: Option<Read>,
    fits: Fits,
}

impl Check {
    pub(super) fn new(is_wrapped: bool, read: Option<Read>, fits: Fits) -> Self {
        Self {
            is_wrapped,
            read,
            fits,
        }
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
        (self.fits)(json)?;
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
}

fn is_object(json: &str) -> bool {
    json.starts_with('{')
}

/// True if both are one value, however it is written.
fn is_same(one: &str, other: &str) -> bool {
    let value = |json| serde_json::from_str::<Value>(json).ok();
    one == other || value(one).is_some_and(|it| value(other) == Some(it))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::super::fits::compile;
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
        let check = Check::new(false, Some(read), compile(&schema).unwrap());

        let days = r#"{"days":3}"#;
        assert_eq!(check.accept(&format!("See [1]: {days}")).unwrap(), days);
        assert!(check.accept("[1]").is_err());
    }
}
