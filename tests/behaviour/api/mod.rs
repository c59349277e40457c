//! The public surface, as outside programs write it: every name once, in its shape.
//!
//! Most of it is proven by compiling. A name that changes here breaks programs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod runs;
mod tools;

use agent_core::graph::StateKey;
use agent_core::tool::{InputSchema, InterruptRequest, ToolMetadata, ToolOutcome};
use agent_core::{BoxFuture, ToolCallback, ToolContext, ToolDefinition, ToolError, ToolOutput};
use serde_json::json;

const SCORES: StateKey<Vec<i32>> = StateKey::new("scores");

struct Db;

struct ByHand {
    definition: ToolDefinition,
    metadata: ToolMetadata,
}

impl ByHand {
    fn new(name: &'static str) -> Self {
        let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
        Self {
            definition: ToolDefinition::new(name, "", schema),
            metadata: ToolMetadata::new(),
        }
    }
}

impl ToolCallback for ByHand {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        &self.metadata
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        Box::pin(async {
            let asked = ToolOutcome::Interrupt(InterruptRequest::new("?"));
            if matches!(asked, ToolOutcome::Done(_)) {
                return Err(ToolError::fatal("never"));
            }
            Ok(ToolOutcome::Done(ToolOutput::from_text("done")))
        })
    }
}
