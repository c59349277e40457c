//! What `#[tool]` makes of a function.

mod arguments;
mod blocks;
mod constraints;
mod context;
mod methods;
mod names;
mod outputs;
mod pitfalls;
mod reference;
mod schema;
mod whole;

use std::sync::Arc;

use agent_core::tool::ToolOutcome;
use agent_core::{ToolCallback, ToolContext, ToolError};

/// What the model reads after this call.
pub(crate) async fn told(tool: Arc<dyn ToolCallback>, arguments: &str) -> String {
    match called(tool, arguments).await {
        Ok(ToolOutcome::Done(output)) => output.text(),
        Ok(ToolOutcome::Interrupt(request)) => format!("asked: {}", request.payload),
        Err(error) => error.model_text(),
    }
}

async fn called(tool: Arc<dyn ToolCallback>, arguments: &str) -> Result<ToolOutcome, ToolError> {
    tool.call(arguments, &ToolContext::default()).await
}
