//! What runs when a model calls a tool.

use super::{ToolContext, ToolDefinition, ToolError, ToolMetadata, ToolOutput};
use crate::boxed::BoxFuture;

/// placeholder
pub trait ToolCallback: Send + Sync {
    /// placeholder
    fn definition(&self) -> &ToolDefinition;
    /// placeholder
    fn metadata(&self) -> &ToolMetadata;
    /// placeholder
    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>>;
}

/// placeholder
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "placeholder")]
pub enum ToolOutcome {
    /// placeholder
    Done(ToolOutput),
    /// placeholder
    Interrupt(InterruptRequest),
}

/// placeholder
#[derive(Debug, Clone)]
pub struct InterruptRequest;
