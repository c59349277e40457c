//! The tool by which a model gives an answer of a form.

use std::sync::Arc;

use super::{Check, FINAL_ANSWER, Output, OutputError};
use crate::agent::nested::scope_of;
use crate::boxed::BoxFuture;
use crate::message::Message;
use crate::tool::{
    Effect, ToolCallback, ToolContext, ToolDefinition, ToolError, ToolMetadata, ToolOutcome,
    ToolOutput,
};

pub(in crate::agent) struct FinalAnswer {
    definition: ToolDefinition,
    metadata: ToolMetadata,
    check: Arc<Check>,
    retries: u32,
}

impl FinalAnswer {
    pub(super) fn new(output: &Output) -> Self {
        let about = "Gives your final answer. Call it alone, once every result you need is there.";
        let about = match output.schema.description() {
            "" => about.to_owned(),
            more => format!("{about} {more}"),
        };
        let schema = (output.input)(output.schema.schema().clone());
        Self {
            definition: ToolDefinition::new(FINAL_ANSWER.to_owned(), about, schema),
            metadata: ToolMetadata::new()
                .return_direct(true)
                .effect(Effect::Idempotent),
            check: Arc::clone(&output.check),
            retries: output.retries,
        }
    }

    fn take(&self, arguments: &str, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let calls = context.state().messages().last().map(Message::tool_calls);
        let taken = match calls.map_or(0, <[_]>::len) {
            0 | 1 => self.check.accept(arguments),
            _ => Err(OutputError {
                fault: "it came beside other calls; give it alone, after their results".to_owned(),
                answer: arguments.to_owned(),
            }),
        };
        match taken {
            Ok(json) => Ok(ToolOutcome::Done(ToolOutput::from_text(json))),
            Err(error) if is_last(context, self.retries) => Err(ToolError::fatal(error)),
            Err(error) => Err(ToolError::correctable(error.to_string())),
        }
    }
}

/// Counts an answer that does not fit. True if no other is asked for.
fn is_last(context: &ToolContext, retries: u32) -> bool {
    scope_of(context).is_some_and(|scope| scope.counts_misfit(retries))
}

impl ToolCallback for FinalAnswer {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        &self.metadata
    }

    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        Box::pin(std::future::ready(self.take(arguments, context)))
    }
}
