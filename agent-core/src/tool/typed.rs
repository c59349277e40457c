//! One parameter of a `#[tool]` together with its type.
//!
//! The schema and the decoding both need to know what the type can do. Asked twice, rustc
//! would tell the user twice; here it is asked once, and the answer is kept as a function.

use std::fmt;

use serde::de::DeserializeOwned;

use super::ParamKind;
use super::param::{Parameter, ToolParam};
use super::reader::ArgumentReader;
use crate::schema::{Constraints, Schemars};

/// A parameter of type `T`, as generated code holds it.
pub struct TypedParameter<T> {
    parameter: Parameter,
    take: fn(&mut ArgumentReader<'_>, &'static Parameter, Option<DefaultOf<'_, T>>) -> Option<T>,
}

type DefaultOf<'a, T> = &'a mut dyn FnMut() -> T;

/// A parameter whose type says where its value comes from.
#[must_use]
pub const fn typed<T: ToolParam>(name: &'static str) -> TypedParameter<T> {
    TypedParameter {
        parameter: Parameter::of::<T>(name),
        take: |reader, parameter, default| reader.read(parameter, default),
    }
}

/// A parameter whose schema is what `schemars` says of `T`.
#[must_use]
pub const fn typed_schemars<T>(name: &'static str) -> TypedParameter<T>
where
    // rustc shows the line of the bound.
    T: schemars::JsonSchema + DeserializeOwned, // `#[derive(schemars::JsonSchema)]` for it, or leave `schemars` out
{
    TypedParameter {
        parameter: Parameter::schemars::<T>(name),
        take: |reader, parameter, default| {
            let value = match default {
                Some(default) => reader.read(parameter, Some(&mut || Schemars(default()))),
                None => reader.read(parameter, None),
            };
            value.map(|Schemars(value)| value)
        },
    }
}

impl<T> TypedParameter<T> {
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

    /// Makes it not required; `default` is the JSON text of the default, if it is to be told.
    #[must_use]
    pub const fn with_default(mut self, default: Option<&'static str>) -> Self {
        self.parameter = self.parameter.with_default(default);
        self
    }

    /// No constraints yet, on values of this parameter.
    #[must_use]
    #[track_caller]
    pub const fn constraints(&self) -> Constraints {
        self.check_argument();
        self.parameter.property.constraints()
    }

    /// Narrows what the model may give.
    #[must_use]
    pub const fn constrained(mut self, constraints: &'static Constraints) -> Self {
        self.parameter.property = self.parameter.property.constrained(constraints);
        self
    }

    /// The model must give it, also if its type has a value without.
    #[must_use]
    #[track_caller]
    pub const fn demanded(mut self) -> Self {
        self.check_argument();
        self.parameter.property = self.parameter.property.demanded();
        self
    }

    /// The model may leave it out, and its type has a value then.
    #[must_use]
    #[track_caller]
    pub const fn optional(mut self) -> Self {
        self.check_argument();
        self.parameter.property = self.parameter.property.optional();
        self
    }

    #[track_caller]
    const fn check_argument(&self) {
        assert!(
            matches!(self.parameter.kind, ParamKind::Argument { .. }),
            "the host gives this parameter, not the model, so it is not described to one; take the key away"
        );
    }

    /// Takes the value; `None` if the reader noted a fault.
    pub fn take(&'static self, reader: &mut ArgumentReader<'_>) -> Option<T> {
        (self.take)(reader, &self.parameter, None)
    }

    /// Takes the value, or `default` if the model gave none.
    pub fn take_or(
        &'static self,
        reader: &mut ArgumentReader<'_>,
        mut default: impl FnMut() -> T,
    ) -> Option<T> {
        (self.take)(reader, &self.parameter, Some(&mut default))
    }
}

impl<T> fmt::Debug for TypedParameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedParameter")
            .field(&self.parameter)
            .finish()
    }
}
