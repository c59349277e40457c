//! Whether an answer fits the schema of its form, told by the crate `jsonschema` under the feature
//! `validate`; without it, all do.

use serde_json::Value;

use crate::schema::SchemaError;

/// How many faults the model is told.
#[cfg(feature = "validate")]
const MOST_FAULTS: usize = 10;

/// Whether a JSON text fits; what is wrong with it, if not.
pub(super) type Fits = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// Makes the check of a schema.
pub(super) type Compile = fn(&Value) -> Result<Fits, SchemaError>;

#[cfg(not(feature = "validate"))]
pub(super) fn compile(_: &Value) -> Result<Fits, SchemaError> {
    Ok(Box::new(|_| Ok(())))
}

#[cfg(feature = "validate")]
pub(super) fn compile(schema: &Value) -> Result<Fits, SchemaError> {
    let validator = crate::tool::Validator::of(schema)?;
    Ok(Box::new(move |json| {
        let value: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut errors = validator.errors(&value).map_err(str::to_owned)?;
        let faults = errors.by_ref().take(MOST_FAULTS);
        let faults: Vec<String> = faults.map(|error| text(&error)).collect();
        if faults.is_empty() {
            return Ok(());
        }
        let more = if errors.next().is_some() { "; …" } else { "" };
        Err(faults.join("; ") + more)
    }))
}

#[cfg(feature = "validate")]
fn text(error: &jsonschema::ValidationError<'_>) -> String {
    match error.instance_path().as_str() {
        "" => error.to_string(),
        path => format!("`{path}`: {error}"),
    }
}
