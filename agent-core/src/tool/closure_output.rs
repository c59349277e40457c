//! What a closure gives, as what the model reads.
//!
//! A macro can ask a concrete type what it is (`tool::probe`), a generic function cannot, and
//! serde knows `Result` too. So there is one impl for each kind of type, told apart by a
//! marker that the compiler finds; a `Result` whose error serde can write is told apart when
//! it is there.

use std::any::TypeId;
use std::error::Error;
use std::ops::Deref;
use std::process;

use serde::Serialize;

use super::closure_result::split_result;
use super::{IntoToolOutput, Json, ToolError, ToolOutcome, ToolOutput};
use crate::boxed::BoxError;
use crate::message::{ContentPart, Image};

/// What a closure of a tool can give: a `Serialize` type, a tool's output, or a `Result` of
/// one of them.
///
/// `M` is found by the compiler. It cannot be if the error of a `Result` is both an `Error`
/// and `Serialize`: `.map_err(ToolError::failed)` helps.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown to a model",
    label = "not what a tool can give",
    note = "a closure gives a `Serialize` type, a `ToolOutput`, an image, or a `Result` of one of them whose error is an `Error`",
    note = "a closure with a future goes to `FunctionTool::new`, a plain one to `FunctionTool::blocking`"
)]
pub trait ClosureOutput<M> {
    /// What the call gave.
    #[doc(hidden)]
    fn into_outcome(self) -> Result<ToolOutcome, ToolError>;
}

/// For what serde writes.
#[derive(Debug)]
pub enum BySerialize {}

/// For what is no JSON.
#[derive(Debug)]
pub enum ByTool {}

/// For a `Result` with an error.
#[derive(Debug)]
pub enum ByError {}

/// For a `Result` with a box that holds an error, such as [`BoxError`] or `anyhow::Error`.
#[derive(Debug)]
pub enum ByBoxedError {}

impl<T: Serialize + 'static> ClosureOutput<BySerialize> for T {
    fn into_outcome(self) -> Result<ToolOutcome, ToolError> {
        match split_result(&self) {
            Some(result) => result.map(ToolOutcome::Done),
            None => written(&self),
        }
    }
}

impl<T, E> ClosureOutput<ByError> for Result<T, E>
where
    T: Serialize + 'static,
    E: Error + Send + Sync + 'static,
{
    fn into_outcome(self) -> Result<ToolOutcome, ToolError> {
        written(&self.map_err(ToolError::failed)?)
    }
}

impl<T, E> ClosureOutput<ByBoxedError> for Result<T, E>
where
    T: Serialize + 'static,
    E: Into<BoxError> + Deref<Target = dyn Error + Send + Sync>,
{
    fn into_outcome(self) -> Result<ToolOutcome, ToolError> {
        written(&self.map_err(ToolError::failed)?)
    }
}

impl<T: NoJson> ClosureOutput<ByTool> for T {
    fn into_outcome(self) -> Result<ToolOutcome, ToolError> {
        self.into_tool_output()
    }
}

/// A type that a model is shown in its own way, and that serde does not write.
pub trait NoJson: IntoToolOutput {}

impl NoJson for ToolOutput {}
impl NoJson for ToolOutcome {}
impl NoJson for Image {}
impl NoJson for Vec<ContentPart> {}
impl NoJson for process::Output {}
impl<T: Serialize> NoJson for Json<T> {}
impl<T: NoJson, E: Into<BoxError>> NoJson for Result<T, E> {}

fn written<T: Serialize + 'static>(value: &T) -> Result<ToolOutcome, ToolError> {
    if TypeId::of::<T>() == TypeId::of::<()>() {
        return ().into_tool_output();
    }
    ToolOutput::json(value).map(ToolOutcome::Done)
}
