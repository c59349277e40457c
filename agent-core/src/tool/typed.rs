//! One parameter of a `#[tool]` together with its type.
//!
//! The schema and the decoding both need to know what the type can do. Asked twice, rustc
//! would tell the user twice; here it is asked once, and the answer is kept as a function.

use std::fmt;

use serde::de::DeserializeOwned;

use super::arguments::ArgumentReader;
use super::param::{Parameter, ToolParam};

/// A parameter of type `T`, as generated code holds it.
pub struct TypedParameter<T> {
    parameter: Parameter,
    take: fn(&mut ArgumentReader<'_>, &str, Option<DefaultOf<'_, T>>) -> Option<T>,
}

type DefaultOf<'a, T> = &'a mut dyn FnMut() -> T;

/// A parameter whose type says where its value comes from.
#[must_use]
pub const fn typed<T: ToolParam>(name: &'static str) -> TypedParameter<T> {
    TypedParameter {
        parameter: Parameter::of::<T>(name),
        take: |reader, name, default| match default {
            Some(default) => reader.take_or(name, default),
            None => reader.take(name),
        },
    }
}

/// A parameter whose schema is what `schemars` says of `T`.
#[must_use]
pub const fn typed_schemars<T>(name: &'static str) -> TypedParameter<T>
where
    T: schemars::JsonSchema + DeserializeOwned,
{
    TypedParameter {
        parameter: Parameter::schemars::<T>(name),
        take: |reader, name, default| match default {
            Some(default) => reader.take_schemars_or(name, default),
            None => reader.take_schemars(name),
        },
    }
}

impl<T> TypedParameter<T> {
    /// The parameter without its type, for the schema.
    #[must_use]
    pub const fn parameter(&self) -> Parameter {
        self.parameter
    }

    /// Takes the value; `None` if the reader noted a fault.
    pub fn take(&self, reader: &mut ArgumentReader<'_>) -> Option<T> {
        (self.take)(reader, self.parameter.property.name, None)
    }

    /// Takes the value, or `default` if the model gave none.
    pub fn take_or(
        &self,
        reader: &mut ArgumentReader<'_>,
        mut default: impl FnMut() -> T,
    ) -> Option<T> {
        (self.take)(reader, self.parameter.property.name, Some(&mut default))
    }
}

impl<T> fmt::Debug for TypedParameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedParameter")
            .field(&self.parameter)
            .finish()
    }
}
