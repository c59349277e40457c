//! The runnable side of a tool.

use serde_json::Value;

use super::{ToolContext, ToolDefinition, ToolError, ToolMetadata, ToolOutput};
use crate::boxed::BoxFuture;

/// What a tool asks a person before it goes on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InterruptRequest {
    /// What is asked, for whoever answers.
    pub payload: Value,
    /// By which the tool finds the answer.
    pub(crate) name: Option<String>,
    /// What a run inside of the call asks, in place of the call itself.
    pub(crate) nested: Vec<NestedRequest>,
}

/// A question of a run inside of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NestedRequest {
    /// By which that run is answered.
    pub(crate) id: String,
    pub(crate) payload: Value,
    pub(crate) about: Value,
}

impl InterruptRequest {
    /// Asks with this payload.
    pub fn new(payload: impl Into<Value>) -> Self {
        Self {
            payload: payload.into(),
            name: None,
            nested: Vec::new(),
        }
    }

    /// As [`new`](Self::new), with a name by which the tool finds the answer:
    /// [`ToolContext::answer_to`].
    pub fn named(name: impl Into<String>, payload: impl Into<Value>) -> Self {
        Self {
            name: Some(name.into()),
            ..Self::new(payload)
        }
    }
}

/// How a call ended that did not fail. A pause is a value, so no layer can swallow it.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever wraps a call must handle a pause"
)]
pub enum ToolOutcome {
    /// The tool is done.
    Done(ToolOutput),
    /// The tool waits for a person.
    Interrupt(InterruptRequest),
}

/// Something that runs when the model calls a tool.
///
/// `#[tool]` writes it; by hand it is what wrappers and run-time tools implement.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool",
    note = "put `#[tool]` on an `async fn` and pass `tools![that_fn]`, or implement `ToolCallback`"
)]
pub trait ToolCallback: Send + Sync {
    /// What the model is told about this tool.
    fn definition(&self) -> &ToolDefinition;

    /// How the tool wants to be run.
    fn metadata(&self) -> &ToolMetadata;

    /// Runs the tool with the arguments' JSON text.
    ///
    /// Dropping the future cancels it: an async tool stops at its next await.
    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>>;
}
