//! Tools made of closures at run time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod closures;
mod derived;
mod from_schema;
mod outputs;
mod runs;

use agent_core::schema::{Property, Schema};
use agent_core::tool::{FunctionTool, ToolOutcome};
use agent_core::{ToolCallback, ToolContext, ToolError, ToolOutput, ToolSchema};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct City {
    city: String,
    days: Option<u8>,
}

impl ToolSchema for City {
    const SCHEMA: Schema = Schema::Object(&[
        Property::of::<String>("city").described("City name"),
        Property::of::<Option<u8>>("days"),
    ]);
}

/// The output of a call that goes well.
async fn output(tool: &FunctionTool, arguments: &str) -> ToolOutput {
    match call(tool, arguments).await {
        Ok(ToolOutcome::Done(output)) => output,
        other => panic!("the call gave {other:?}"),
    }
}

/// What the model reads of a call that fails.
async fn error(tool: &FunctionTool, arguments: &str) -> String {
    match call(tool, arguments).await {
        Err(error) => error.model_text(),
        other => panic!("the call gave {other:?}"),
    }
}

async fn call(tool: &FunctionTool, arguments: &str) -> Result<ToolOutcome, ToolError> {
    tool.call(arguments, &ToolContext::default()).await
}
