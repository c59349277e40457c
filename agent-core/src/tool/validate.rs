//! Arguments checked against a schema known only at run time, by the crate `jsonschema`.
//!
//! Nothing is fetched: a schema refers to itself only.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ErrorIterator, ValidationError};
use serde_json::Value;

use super::closure::raw;
use super::fault::{EXAMPLE, LONGEST_EXAMPLE, LONGEST_REASON, received, short_path, shortened};
use super::{ToolContext, ToolError};
use crate::schema::{SchemaError, SchemaFault, example_at, longest_chain};
use crate::secrets::Secrets;

/// How many faults of one call the model is told.
const MAX_FAULTS: usize = 10;

/// How many schemas a value and all that it stands in may be held to: each takes about a kilobyte of
/// the stack, of which a thread of tokio has two megabytes.
const MOST_AT_ONCE: usize = 1000;

/// The check of a schema.
pub(crate) struct Validator {
    validator: jsonschema::Validator,
    /// How many schemas hold for one value, each by the one before.
    chain: usize,
}

impl Validator {
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaError> {
        let chain = longest_chain(schema)?;
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .build(schema)
            .map_err(|error| {
                SchemaError::new(vec![SchemaFault {
                    pointer: error.instance_path().to_string(),
                    problem: format!("is refused: {error}"),
                }])
            })?;
        Ok(Self { validator, chain })
    }

    /// What is wrong with a value; the outer error if it is too deep for that to be found out.
    pub(crate) fn errors<'a>(
        &'a self,
        value: &'a Value,
    ) -> Result<ErrorIterator<'a>, &'static str> {
        match depth(value).saturating_mul(self.chain) > MOST_AT_ONCE {
            true => Err("nested too deep to be checked"),
            false => Ok(self.validator.iter_errors(value)),
        }
    }
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        _ => return 1,
    };
    1 + inner.unwrap_or(0)
}

/// Checks the arguments; all faults are told at once, a line for each, with an example where the
/// schema leads to one.
pub(super) fn validate(
    validator: &Validator,
    schema: &Value,
    arguments: &str,
    context: &ToolContext,
) -> Result<(), ToolError> {
    let arguments: Value =
        serde_json::from_str(raw(arguments, context, || example_at(schema, ""))?.get())?;
    let errors = validator.errors(&arguments);
    let mut errors =
        errors.map_err(|why| ToolError::invalid_arguments(format!("the arguments are {why}")))?;
    let faults: Vec<String> = errors
        .by_ref()
        .take(MAX_FAULTS)
        .map(|error| text(&error, schema, context.secrets()))
        .collect();
    if faults.is_empty() {
        return Ok(());
    }
    let more = if errors.next().is_some() { "\n…" } else { "" };
    Err(ToolError::invalid_arguments(faults.join("\n") + more))
}

fn text(error: &ValidationError<'_>, schema: &Value, secrets: &Secrets) -> String {
    let mut pointer = error.instance_path().to_string();
    if let ValidationErrorKind::Required { property } = error.kind() {
        let name = property.as_str().unwrap_or_default();
        pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    }
    let path = path(&pointer);
    let shown = short_path(&path);
    let mut text = match error.kind() {
        ValidationErrorKind::Required { .. } => format!("argument `{shown}` is missing"),
        _ => {
            let why = error.masked_with("it").to_string();
            let why = shortened(&why, LONGEST_REASON);
            match path.is_empty() {
                true => format!("the arguments do not fit their schema: {why}"),
                false => format!(
                    "argument `{shown}` does not fit its schema: {why}, got {}",
                    received(&path, error.instance(), secrets)
                ),
            }
        }
    };
    let example = example_at(schema, &pointer).map(|example| example.to_string());
    if let Some(example) = example.filter(|example| example.len() <= LONGEST_EXAMPLE) {
        text.push_str(EXAMPLE);
        text.push_str(&example);
    }
    text
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
