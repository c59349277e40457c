//! The closures a [`FunctionTool`](super::FunctionTool) can be made of.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::arguments::broken;
use super::fault::EXAMPLE;
use super::split::split;
use super::{ToolContext, ToolError, ToolErrorKind, ToolParam};
use crate::schema::{Property, Schema, ToolSchema, example};

/// A closure or function that can be a tool: of nothing, of an input, or of an input and the
/// [`ToolContext`].
///
/// The input is the whole arguments object, of any type with [`ToolSchema`] and
/// `Deserialize`; its type must be written. `A` is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "no tool can be made of this closure",
    label = "no closure of a tool",
    note = "a tool is made of `|| …`, `|input: I| …` or `|input: I, context: ToolContext| …`, where `I` has `ToolSchema` and `Deserialize`, or is `Schemars<T>`"
)]
pub trait ToolFn<A>: Send + Sync + 'static {
    /// What the closure gives.
    type Output: 'static;

    /// The schema of the input; `None` if there is none.
    #[doc(hidden)]
    const INPUT: Option<&'static Schema>;

    /// Reads the input and calls the closure.
    #[doc(hidden)]
    fn apply(&self, arguments: &str, context: &ToolContext) -> Result<Self::Output, ToolError>;
}

/// What an async closure gives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future, so the closure is not async",
    label = "not async",
    note = "write `async || …`, or give a plain closure to `FunctionTool::blocking`"
)]
pub trait ToolFuture {
    /// What the future gives.
    type Value;

    /// The future itself.
    #[doc(hidden)]
    fn running(self) -> impl Future<Output = Self::Value> + Send
    where
        Self: Send;
}

// Told of would be what `Future` misses, and not that a closure is plain.
#[diagnostic::do_not_recommend]
impl<F: Future> ToolFuture for F {
    type Value = F::Output;

    fn running(self) -> impl Future<Output = Self::Value> + Send
    where
        Self: Send,
    {
        self
    }
}

impl<F, O> ToolFn<()> for F
where
    F: Fn() -> O + Send + Sync + 'static,
    O: 'static,
{
    type Output = O;

    const INPUT: Option<&'static Schema> = None;

    fn apply(&self, arguments: &str, context: &ToolContext) -> Result<O, ToolError> {
        split(arguments, context.secrets()).map_err(|why| broken(&why, Some(json!({}))))?;
        Ok(self())
    }
}

// rustc names the parameter where a closure does not say the type.
impl<F, TypeOfTheInput, O> ToolFn<(TypeOfTheInput,)> for F
where
    F: Fn(TypeOfTheInput) -> O + Send + Sync + 'static,
    TypeOfTheInput: ToolSchema + DeserializeOwned,
    O: 'static,
{
    type Output = O;

    const INPUT: Option<&'static Schema> = Some(&TypeOfTheInput::SCHEMA);

    fn apply(&self, arguments: &str, context: &ToolContext) -> Result<O, ToolError> {
        read(arguments, context).map(self)
    }
}

impl<F, TypeOfTheInput, O> ToolFn<(TypeOfTheInput, ToolContext)> for F
where
    F: Fn(TypeOfTheInput, ToolContext) -> O + Send + Sync + 'static,
    TypeOfTheInput: ToolSchema + DeserializeOwned,
    O: 'static,
{
    type Output = O;

    const INPUT: Option<&'static Schema> = Some(&TypeOfTheInput::SCHEMA);

    fn apply(&self, arguments: &str, context: &ToolContext) -> Result<O, ToolError> {
        Ok(self(read(arguments, context)?, context.clone()))
    }
}

/// Reads a whole arguments object; no text and `null` are an empty one.
fn read<I: ToolSchema + DeserializeOwned>(
    arguments: &str,
    context: &ToolContext,
) -> Result<I, ToolError> {
    let example = || example_of(&I::SCHEMA);
    let raw = raw(arguments, context, example)?;
    I::take(Some(raw), context).map_err(|error| with_example(error, example))
}

/// The error, with an example where it has none: of what a type itself refused.
pub(super) fn with_example(error: ToolError, example: impl FnOnce() -> Option<Value>) -> ToolError {
    let text = error.to_string();
    match error.kind() {
        ToolErrorKind::InvalidArguments if !text.contains(EXAMPLE) => broken(&text, example()),
        _ => error,
    }
}

/// A value of the schema, as an error shows it.
pub(super) fn example_of(schema: &'static Schema) -> Option<Value> {
    example(&Property::new("value", schema, true))
}

/// The text of the arguments object. Where there is none, the model is shown the example.
pub(super) fn raw<'a>(
    arguments: &'a str,
    context: &ToolContext,
    example: impl FnOnce() -> Option<Value>,
) -> Result<&'a RawValue, ToolError> {
    let members = split(arguments, context.secrets()).map_err(|why| broken(&why, example()))?;
    let text = if members.is_empty() { "{}" } else { arguments };
    Ok(serde_json::from_str(text)?)
}
