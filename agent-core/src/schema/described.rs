//! A type of which only `schemars` knows the schema.

use std::ops::Deref;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};

use super::{Schema, SchemarsPart, ToolSchema};

/// Gives a type with [`schemars::JsonSchema`] a [`ToolSchema`], put together at first use.
///
/// It is read like the type itself. A parameter of `#[tool]` has `#[param(schemars)]` for
/// this; the input of a [`FunctionTool`](crate::tool::FunctionTool) is wrapped:
///
/// ```
/// use agent_core::schema::Schemars;
/// use agent_core::tool::FunctionTool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Filter {
///     words: Vec<String>,
/// }
///
/// let find = FunctionTool::new(
///     "find",
///     "Finds articles.",
///     async |Schemars(filter): Schemars<Filter>| filter.words,
/// );
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Schemars<T>(pub T);

impl<T: schemars::JsonSchema + DeserializeOwned> ToolSchema for Schemars<T> {
    const SCHEMA: Schema = Schema::Schemars(SchemarsPart::of::<T>());
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Schemars<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

impl<T> Deref for Schemars<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
