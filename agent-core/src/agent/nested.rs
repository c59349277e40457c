//! A run inside a tool call of another: what it takes over from there, and an agent as a tool.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::react::ReactAgent;
use super::run::RunRequest;
use super::scope::RunScope;
use crate::boxed::BoxFuture;
use crate::event::{Gate, Outcome, RunOutput};
use crate::tool::{
    InputSchema, InterruptRequest, ToolCallback, ToolContext, ToolDefinition, ToolError,
    ToolMetadata, ToolOutcome, ToolOutput,
};

/// The call in which a run goes on.
pub(super) struct Outer {
    pub(super) scope: Arc<RunScope>,
    pub(super) gate: Arc<Gate>,
    pub(super) deadline: Instant,
}

impl RunRequest {
    /// Makes this a run inside a tool call of another run.
    ///
    /// It is cancelled with the call and over with its time; its model calls, tool calls and
    /// usage count for the outer run too, whose limits hold as well; its events are told by the
    /// outer run's stream; host values and metadata of the outer run are there where this one
    /// has none of its own. A [`cancel_token`](Self::cancel_token) comes on top.
    ///
    /// With a context that belongs to no run, as in a test, only its token counts.
    pub fn within(mut self, context: &ToolContext) -> Self {
        self.outer = context
            .outer()
            .and_then(|outer| outer.downcast::<Outer>().ok());
        self.outer_token = Some(context.cancellation().clone());
        self
    }
}

/// An agent as a tool of another: `{"input": "…"}` goes in, its answer comes back.
///
/// The name and the description are the agent's. The agent runs [within](RunRequest::within)
/// the call, on a history of its own. It pauses the outer run if it pauses itself; an error, or
/// an end without an answer, is an error of the call and names the agent.
///
/// ```
/// use agent_core::ReactAgent;
/// use agent_core::agent::AgentTool;
/// use agent_core::model::{ScriptedModel, scripted::{calls, says}};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let writer = ReactAgent::builder("writer", ScriptedModel::new([says("Roses are red.")]))
///     .description("Writes poems.")
///     .build()?;
/// let model = ScriptedModel::new([
///     calls("writer", json!({"input": "About roses."})),
///     says("Here it is."),
/// ]);
/// let editor = ReactAgent::builder("editor", model)
///     .tools(AgentTool::new(writer))
///     .build()?;
///
/// let output = editor.run("A poem, please.").await?;
/// assert_eq!(output.messages()[2].tool_results()[0].text(), "Roses are red.");
/// # Ok(())
/// # }
/// ```
pub struct AgentTool {
    agent: ReactAgent,
    definition: ToolDefinition,
    metadata: ToolMetadata,
}

impl AgentTool {
    /// The agent as a tool. Its name must be one that a tool can have.
    #[must_use]
    #[track_caller]
    pub fn new(agent: ReactAgent) -> Self {
        let input = json!({"type": "string", "description": "What the agent is to do."});
        let schema = InputSchema::from_value(json!({
            "type": "object",
            "properties": {"input": input},
            "required": ["input"],
            "additionalProperties": false,
        }));
        let place = Location::caller();
        let (name, description) = (agent.name().to_owned(), agent.description().to_owned());
        Self {
            definition: ToolDefinition::new(name, description, schema),
            metadata: ToolMetadata::new().located(place.file(), place.line()),
            agent,
        }
    }

    async fn run(&self, arguments: &str, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        #[derive(Deserialize)]
        struct Arguments {
            input: String,
        }

        let Arguments { input } = serde_json::from_str(arguments)
            .map_err(|error| ToolError::invalid_arguments(format!("argument `input`: {error}")))?;
        let run = self.agent.run(input).within(context);
        let output = run.await.map_err(|error| {
            ToolError::failed(AgentFailed {
                agent: self.agent.name().to_owned(),
                source: error,
            })
        })?;
        self.outcome(&output)
    }

    fn outcome(&self, output: &RunOutput) -> Result<ToolOutcome, ToolError> {
        let name = self.agent.name();
        match output.outcome() {
            Outcome::Finished => Ok(ToolOutcome::Done(ToolOutput::from_text(output.text()))),
            Outcome::Interrupted(interrupts) => {
                let asked = interrupts
                    .iter()
                    .map(|interrupt| interrupt.request.payload.clone());
                let payload: serde_json::Value = asked.collect();
                Ok(ToolOutcome::Interrupt(InterruptRequest::new(payload)))
            }
            Outcome::Cancelled => Err(ToolError::cancelled()),
            Outcome::LimitReached(limit) if output.text().is_empty() => Err(ToolError::failed(
                format!("agent `{name}` reached a limit without an answer: {limit}"),
            )),
            Outcome::LimitReached(_) => Ok(ToolOutcome::Done(ToolOutput::from_text(output.text()))),
            Outcome::Failed => Err(ToolError::failed(format!("agent `{name}` failed"))),
        }
    }
}

/// Why an agent that was called as a tool gave nothing. The message holds its source: the
/// outer model reads the message alone, without the chain.
#[derive(Debug, thiserror::Error)]
#[error("agent `{agent}` failed: {source}")]
struct AgentFailed {
    agent: String,
    source: crate::AgentError,
}

impl ToolCallback for AgentTool {
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
        Box::pin(self.run(arguments, context))
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentTool").field(&self.agent).finish()
    }
}
