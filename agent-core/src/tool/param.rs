//! Where the value of a tool's parameter comes from: the model's arguments or the host.

use std::any::TypeId;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{Host, ToolContext, ToolError, arguments};
use crate::schema::{Property, Schema, Schemars, ToolSchema};

/// Where the value of a parameter comes from.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ParamKind {
    /// The model gives it.
    Argument {
        /// What the model is told.
        schema: &'static Schema,
        /// False if the model may leave it out.
        required: bool,
    },
    /// The host gives it; the model does not know of it.
    Context,
    /// A typed value of the host; the model does not know of it.
    Host(fn() -> HostType),
}

/// The type of a value a host must give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HostType {
    /// The type's identity.
    pub id: TypeId,
    /// The type's name, for messages.
    pub name: &'static str,
}

impl HostType {
    /// The identity and the name of `T`.
    #[must_use]
    pub fn of<T: ?Sized + 'static>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
        }
    }
}

/// A type that can be a parameter of a tool.
///
/// Every type with [`ToolSchema`] and `Deserialize` is one, and the model gives its value.
/// An own type can be taken from the context instead:
///
/// ```
/// use agent_core::{ToolContext, ToolError};
/// use agent_core::tool::{ParamKind, ToolParam};
/// use serde_json::value::RawValue;
///
/// struct Cancelled(bool);
///
/// impl ToolParam for Cancelled {
///     const KIND: ParamKind = ParamKind::Context;
///
///     fn take(_: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
///         Ok(Self(context.cancellation().is_cancelled()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "not a tool parameter",
    note = "derive or implement `ToolSchema` and `Deserialize` for it, or put `#[param(schemars)]` on the parameter if it has `schemars::JsonSchema`",
    note = "a value of the host is taken as `&ToolContext`, `CancellationToken` or `Host<T>`"
)]
pub trait ToolParam: Sized {
    /// Where the value comes from.
    const KIND: ParamKind;

    /// Takes the value: from the model's `argument`, if there is one, or from `context`.
    ///
    /// # Errors
    ///
    /// [`InvalidArguments`](super::ToolErrorKind::InvalidArguments) if the argument does not
    /// fit or is missing; any other error ends the call as it is.
    fn take(argument: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError>;

    /// Reads the value at the start of a text, if that needs nothing but its `Deserialize`;
    /// beside it there is its length. `None` leads to [`take`](Self::take).
    #[doc(hidden)]
    fn __read(_: &str) -> Option<(Self, usize)> {
        None
    }
}

impl<T: ToolSchema + DeserializeOwned> ToolParam for T {
    const KIND: ParamKind = ParamKind::Argument {
        schema: &T::SCHEMA,
        required: T::REQUIRED,
    };

    fn take(argument: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
        arguments::decode(&T::SCHEMA, T::REQUIRED, argument, context.secrets())
    }

    fn __read(text: &str) -> Option<(Self, usize)> {
        arguments::decode_first(text)
    }
}

impl ToolParam for ToolContext {
    const KIND: ParamKind = ParamKind::Context;

    fn take(_: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
        Ok(context.clone())
    }
}

impl ToolParam for CancellationToken {
    const KIND: ParamKind = ParamKind::Context;

    fn take(_: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
        Ok(context.cancellation().clone())
    }
}

// That `T` can be shared is asked of the function, where rustc says it best.
impl<T: 'static> ToolParam for Host<T> {
    const KIND: ParamKind = ParamKind::Host(HostType::of::<T>);

    fn take(_: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
        match context.host_arc::<T>() {
            Some(value) => Ok(Self(value)),
            None => Err(ToolError::fatal(format!(
                "the host gives no value of type `{}`",
                std::any::type_name::<T>()
            ))),
        }
    }
}

/// One parameter of a tool, as const data.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    pub(crate) kind: ParamKind,
    pub(crate) property: Property,
}

impl Parameter {
    /// A parameter of type `T`.
    #[must_use]
    pub const fn of<T: ToolParam>(name: &'static str) -> Self {
        let property = match T::KIND {
            ParamKind::Argument { schema, required } => Property::new(name, schema, required),
            _ => Property::new(name, &Schema::Any, false),
        };
        Self {
            kind: T::KIND,
            property,
        }
    }

    /// A parameter whose schema is what `schemars` says of `T`.
    #[must_use]
    pub const fn schemars<T: schemars::JsonSchema + DeserializeOwned>(name: &'static str) -> Self {
        Self::of::<Schemars<T>>(name)
    }

    /// Adds what the model is told about the parameter.
    #[must_use]
    pub const fn described(mut self, description: &'static str) -> Self {
        self.property = self.property.described(description);
        self
    }

    /// Makes it not required; `default` is the JSON text of the default, if it is to be told.
    #[must_use]
    pub const fn with_default(mut self, default: Option<&'static str>) -> Self {
        self.property = self.property.with_default(default);
        self
    }

    /// The property the model is told, if the model gives the value.
    pub(crate) const fn argument(&self) -> Option<&Property> {
        match self.kind {
            ParamKind::Argument { .. } => Some(&self.property),
            _ => None,
        }
    }
}
