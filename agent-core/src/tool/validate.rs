//! Arguments checked against a schema known only at run time, by the crate `jsonschema`.
//!
//! Nothing is fetched: a schema refers to itself only.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::closure::raw;
use super::fault::shown;
use super::{ToolContext, ToolError};
use crate::schema::{SchemaError, SchemaFault};
use crate::secrets::Secrets;

/// How many faults of one call the model is told.
const MAX_FAULTS: usize = 10;

/// Makes the check of a schema.
pub(crate) fn validator(schema: &Value) -> Result<Validator, SchemaError> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| {
            SchemaError::new(vec![SchemaFault {
                pointer: error.instance_path().to_string(),
                problem: format!("is refused: {error}"),
            }])
        })
}

/// Checks the arguments; all faults are told at once.
pub(super) fn validate(
    validator: &Validator,
    arguments: &str,
    context: &ToolContext,
) -> Result<(), ToolError> {
    let arguments: Value = serde_json::from_str(raw(arguments, context)?.get())?;
    let mut errors = validator.iter_errors(&arguments);
    let faults: Vec<String> = errors
        .by_ref()
        .take(MAX_FAULTS)
        .map(|e| text(&e, context.secrets()))
        .collect();
    if faults.is_empty() {
        return Ok(());
    }
    let more = if errors.next().is_some() { "; …" } else { "" };
    Err(ToolError::invalid_arguments(faults.join("; ") + more))
}

fn text(error: &ValidationError<'_>, secrets: &Secrets) -> String {
    let mut path = path(&error.instance_path().to_string());
    if let ValidationErrorKind::Required { property } = error.kind() {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(property.as_str().unwrap_or_default());
        return format!("argument `{path}` is missing");
    }
    let why = error.masked_with("it");
    if path.is_empty() {
        return format!("the arguments do not fit their schema: {why}");
    }
    let value = shown(&error.instance().to_string(), secrets);
    format!("argument `{path}` does not fit its schema: {why}, got {value}")
}

/// A JSON pointer as a path: `/a/0/b` as `a[0].b`.
fn path(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if step.bytes().all(|byte| byte.is_ascii_digit()) && !step.is_empty() {
            path.push_str(&format!("[{step}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&step);
        }
    }
    path
}
