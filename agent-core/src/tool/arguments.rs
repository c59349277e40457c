//! One value of the model's, read as its type and its constraints mean it.
//!
//! Not here: how the values of a call are found (`tool::reader`).

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault::{EXAMPLE, Fault};
use super::fit::{Fit, container};
use super::{ToolError, cursor, scalar};
use crate::schema::{Constraints, Property, Schema, ToolSchema, absent};
use crate::secrets::Secrets;

/// Reads one value of type `T`; an error does not name the argument.
pub(crate) fn decode<T: DeserializeOwned>(
    schema: &'static Schema,
    required: bool,
    argument: Option<&RawValue>,
    secrets: &Secrets,
) -> Result<T, ToolError> {
    let Some(raw) = argument else {
        return absent()
            .or_else(|| (!required).then(|| serde_json::from_str("null").ok())?)
            .ok_or_else(|| {
                let property = Property::new("value", schema, true);
                invalid(&[Fault::missing("", &property)])
            });
    };
    if let Ok(value) = serde_json::from_str(raw.get()) {
        if schema.is_constrained() {
            kept(schema, None, raw.get(), "", secrets).map_err(|faults| invalid(&faults))?;
        }
        return Ok(value);
    }
    let value = fitted(schema, None, raw.get(), "", secrets).map_err(|faults| invalid(&faults))?;
    T::deserialize(value).map_err(|error| invalid(&[Fault::refused("", raw.get(), error)]))
}

/// The value at the start of a text, if its type reads it and nothing else must be checked.
/// Beside it there is its length.
pub(crate) fn decode_first<T: ToolSchema + DeserializeOwned>(text: &str) -> Option<(T, usize)> {
    if const { T::SCHEMA.is_constrained() } {
        return None;
    }
    scalar::read(text).or_else(|| cursor::by_serde(text))
}

/// The value as the schema means it, or every place where it does not fit.
pub(super) fn fitted(
    schema: &'static Schema,
    constraints: Option<&'static Constraints>,
    text: &str,
    path: &str,
    secrets: &Secrets,
) -> Result<Value, Vec<Fault>> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| vec![Fault::refused(path, text, error)])?;
    let mut fit = Fit::at(path, secrets);
    let value = match (schema, fit.fit_within(schema, constraints, value)) {
        // Only `schemars` knows the type: as the text itself was refused, what it holds is meant.
        (Schema::Schemars(_), Value::String(text)) => container(&text).unwrap_or(text.into()),
        (_, value) => value,
    };
    let faults = fit.into_faults();
    if faults.is_empty() {
        Ok(value)
    } else {
        Err(faults)
    }
}

/// Checks the constraints of a value that its type has read.
pub(super) fn kept(
    schema: &'static Schema,
    constraints: Option<&'static Constraints>,
    text: &str,
    path: &str,
    secrets: &Secrets,
) -> Result<(), Vec<Fault>> {
    let mut faults = fitted(schema, constraints, text, path, secrets)
        .err()
        .unwrap_or_default();
    // What the type reads in spite of its schema is not for us to refuse.
    faults.retain(|fault| fault.is_bound);
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// The error of a call whose arguments are no object to read from.
pub(super) fn broken(why: &str, example: Option<Value>) -> ToolError {
    ToolError::invalid_arguments(match example {
        Some(example) => format!("{why}{EXAMPLE}{example}"),
        None => why.to_owned(),
    })
}

pub(super) fn invalid(faults: &[Fault]) -> ToolError {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    ToolError::invalid_arguments(lines.join("\n"))
}
