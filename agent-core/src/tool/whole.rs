//! A parameter of a tool of which one parameter is the whole input.

use std::fmt;

use serde::de::DeserializeOwned;

use super::closure::{example_of, raw, with_example};
use super::param::{ParamKind, Parameter, ToolParam};
use super::{ToolContext, ToolError};
use crate::schema::{Schemars, ToolSchema as _};

/// A parameter of type `T`, as generated code holds it.
pub struct WholeParameter<T> {
    parameter: Parameter,
    take: fn(&str, &ToolContext) -> Result<T, ToolError>,
}

/// A parameter that takes all arguments, unless its type takes it from the context.
#[must_use]
pub const fn whole<T: ToolParam>(name: &'static str) -> WholeParameter<T> {
    WholeParameter {
        parameter: Parameter::of::<T>(name),
        take: |arguments, context| match T::KIND {
            ParamKind::Argument { schema, .. } => {
                let example = || example_of(schema);
                let raw = raw(arguments, context, example)?;
                T::take(Some(raw), context).map_err(|error| with_example(error, example))
            }
            _ => T::take(None, context),
        },
    }
}

/// As [`whole`], for a type whose schema `schemars` gives.
#[must_use]
pub const fn whole_schemars<T>(name: &'static str) -> WholeParameter<T>
where
    // rustc shows the line of the bound.
    T: schemars::JsonSchema + DeserializeOwned, // `#[derive(schemars::JsonSchema)]` for it, or leave `schemars` out
{
    WholeParameter {
        parameter: Parameter::schemars::<T>(name),
        take: |arguments, context| {
            let example = || example_of(&Schemars::<T>::SCHEMA);
            let raw = raw(arguments, context, example)?;
            let value = Schemars::<T>::take(Some(raw), context);
            value
                .map(|Schemars(value)| value)
                .map_err(|error| with_example(error, example))
        },
    }
}

impl<T> WholeParameter<T> {
    /// The parameter without its type, for the schema.
    #[must_use]
    pub const fn parameter(&self) -> Parameter {
        self.parameter
    }

    /// Adds what the model is told about it.
    #[must_use]
    pub const fn described(mut self, description: &'static str) -> Self {
        self.parameter = self.parameter.described(description);
        self
    }

    /// Takes the value.
    ///
    /// # Errors
    ///
    /// Arguments that do not fit, or what the context lacks.
    pub fn take(&self, arguments: &str, context: &ToolContext) -> Result<T, ToolError> {
        (self.take)(arguments, context)
    }
}

impl<T> fmt::Debug for WholeParameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WholeParameter")
            .field(&self.parameter)
            .finish()
    }
}
