//! Arguments that somebody else wrote in the model's place, checked before the tool sees them.

use serde_json::Value;
use serde_json::value::RawValue;

use super::arguments::{fitted, invalid};
use super::closure::raw;
use super::fault::Fault;
use super::input::Input;
use super::input_schema::InputSchema;
use super::{ToolContext, ToolError};
use crate::schema::{Constraints, Schema};
use crate::secrets::Secrets;

impl InputSchema {
    /// Whether the arguments fit, as far as it can be told without the tool.
    ///
    /// Of a schema known only at run time, the names of its members are looked at, and with the
    /// feature `validate` all of it.
    pub(crate) fn check(&self, arguments: &str) -> Result<(), ToolError> {
        // The faults go to the person who wrote the arguments: nothing is masked.
        let context = ToolContext::default();
        let given = raw(arguments, &context, || None)?;
        match self.check_of_arguments() {
            Some(Check::Input(input)) => check_input(&input, given),
            Some(Check::Type(schema)) => check_type(schema, None, given),
            Some(Check::Value(check)) => check(&self.value(), given, &context),
            None => Ok(()),
        }
    }
}

/// How arguments are held to their schema.
#[derive(Clone, Copy)]
pub(super) enum Check {
    /// The parameters of a function.
    Input(Input),
    /// One type for all arguments.
    Type(&'static Schema),
    /// A schema known only at run time. A pointer, so that a program without such schemas is linked
    /// without the crate `jsonschema`.
    Value(fn(&Value, &RawValue, &ToolContext) -> Result<(), ToolError>),
}

fn check_input(input: &Input, given: &RawValue) -> Result<(), ToolError> {
    if let Some(property) = input.whole_property() {
        return check_type(property.schema, property.constraints, given);
    }
    let (mut faults, secrets) = (Vec::new(), Secrets::default());
    let members: serde_json::Map<String, Value> = serde_json::from_str(given.get())?;
    for property in input.properties() {
        let value = members.get(property.name).filter(|value| !value.is_null());
        match value {
            None if property.required => faults.push(Fault::missing(property.name, property)),
            None => {}
            Some(value) => {
                let value = serde_json::value::to_raw_value(value)?;
                let fits = fitted(
                    property.schema,
                    property.constraints,
                    value.get(),
                    property.name,
                    &secrets,
                );
                faults.extend(fits.err().unwrap_or_default());
            }
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(invalid(&faults)),
    }
}

fn check_type(
    schema: &'static Schema,
    constraints: Option<&'static Constraints>,
    given: &RawValue,
) -> Result<(), ToolError> {
    match fitted(schema, constraints, given.get(), "", &Secrets::default()) {
        Ok(_) => Ok(()),
        Err(faults) => Err(invalid(&faults)),
    }
}

#[cfg(feature = "validate")]
pub(super) fn check_value(
    schema: &Value,
    given: &RawValue,
    context: &ToolContext,
) -> Result<(), ToolError> {
    match super::validate::Validator::of(schema) {
        Ok(validator) => super::validate::validate(&validator, schema, given.get(), context),
        // A schema that nobody can read is no reason to refuse.
        Err(_) => Ok(()),
    }
}

#[cfg(not(feature = "validate"))]
pub(super) fn check_value(
    schema: &Value,
    given: &RawValue,
    _: &ToolContext,
) -> Result<(), ToolError> {
    let given: Value = serde_json::from_str(given.get())?;
    let required = schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if given.get(name).is_none() {
            return Err(ToolError::invalid_arguments(format!(
                "argument `{name}` is missing"
            )));
        }
    }
    Ok(())
}
