//! An agent as a tool of another, with a thread of its own if the outer run has one.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::approval;
use super::error::AgentError;
use super::react::ReactAgent;
use super::run::RunRequest;
use crate::boxed::BoxFuture;
use crate::event::{Outcome, RunOutput};
use crate::graph::checkpoint::{CheckpointError, CheckpointSaver, Durability, NESTED, Threads};
use crate::graph::{Answer, AnswerError};
use crate::tool::{
    InputSchema, InterruptRequest, ToolCallback, ToolContext, ToolDefinition, ToolError,
    ToolMetadata, ToolOutcome, ToolOutput,
};

/// How long, in bytes, the key of a call may be in the name of a thread.
const LONGEST_KEY: usize = 200;

/// An agent as a tool of another: `{"input": "…"}` goes in, its answer comes back.
///
/// The name and the description are the agent's. The agent runs [within](RunRequest::within)
/// the call, on a history of its own. It pauses the outer run if it pauses itself, which then tells
/// what it asks as its own; in a thread of the outer run's saver, so that the answers reach it,
/// which is deleted with the thread of the outer run. An
/// error, or an end without an answer, is an error of the call and names the agent.
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
            metadata: ToolMetadata::new()
                .located(place.file(), place.line())
                .resuming(),
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
        let output = self.output(input, context).await;
        let output = output.map_err(|error| self.failed(error))?;
        self.outcome(&output)
    }

    fn failed(&self, error: AgentError) -> ToolError {
        let agent = self.agent.name().to_owned();
        let source = match error {
            AgentError::Thread { source, output } => match *source {
                // The outer run tells it of its own question.
                CheckpointError::InvalidAnswer { id, source } => {
                    return ToolError::failed(AnswerError::new(&id, source));
                }
                source => AgentError::Thread {
                    source: Box::new(source),
                    output,
                },
            },
            source => source,
        };
        ToolError::failed(AgentFailed { agent, source })
    }

    /// What the agent gives: by a fresh run, or by the one that was begun by this very call, if
    /// that paused or was cut off.
    async fn output(&self, input: String, context: &ToolContext) -> Result<RunOutput, AgentError> {
        let fresh = self.agent.run(input).within(context);
        let Some((saver, durability, thread)) = thread_of(&fresh, &self.agent, context) else {
            return fresh.await;
        };
        let of_thread = |request: RunRequest| RunRequest {
            thread: Some(thread.clone()),
            saver: Some(Arc::clone(&saver)),
            durability: Some(durability),
            ..request
        };
        let answers: Vec<Answer> = context
            .nested_answers()
            .map(|(id, value)| Answer::new(id, value.clone()))
            .collect();
        let resumed = RunRequest {
            // Those of an earlier pause are there once more.
            repeats_answers: true,
            ..of_thread(self.agent.resume(thread.as_str(), answers).within(context))
        };
        match resumed.await {
            Err(error) => match error.of_thread() {
                Some(CheckpointError::ThreadNotFound { .. }) => of_thread(fresh).await,
                // It ended, and the outer run stopped before it knew.
                Some(CheckpointError::NothingToResume { .. }) => ended(&saver, &thread).await,
                _ => Err(error),
            },
            ended => ended,
        }
    }

    fn outcome(&self, output: &RunOutput) -> Result<ToolOutcome, ToolError> {
        let name = self.agent.name();
        match output.outcome() {
            Outcome::Finished => Ok(ToolOutcome::Done(ToolOutput::from_text(output.text()))),
            Outcome::Interrupted(interrupts) => {
                let asked = interrupts
                    .iter()
                    .map(|interrupt| interrupt.request.payload.clone());
                let mut request = InterruptRequest::new(asked.collect::<serde_json::Value>());
                request.nested = interrupts.iter().map(approval::nested).collect();
                Ok(ToolOutcome::Interrupt(request))
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

/// The thread of an agent that is called as a tool: one for each call of a run that has a thread
/// itself.
fn thread_of(
    run: &RunRequest,
    agent: &ReactAgent,
    context: &ToolContext,
) -> Option<(Arc<dyn CheckpointSaver>, Durability, String)> {
    let scope = &run.outer.as_ref()?.scope;
    let saver = scope.saver.clone()?;
    let (thread, call) = (context.thread_id()?, call_of(context));
    let name = format!("{thread}{NESTED}{call}/{}", agent.name());
    let is_control = |character: char| character.is_control();
    Some((saver, scope.durability, name.replace(is_control, "_")))
}

/// What no other call of the thread has. A call whose id is long is told by its place.
fn call_of(context: &ToolContext) -> String {
    let key = context.call_key();
    if key.len() <= LONGEST_KEY {
        return key;
    }
    let place = context.state().messages().iter().rev().find_map(|message| {
        let mut calls = message.tool_calls().iter();
        let position = calls.position(|call| call.id == context.call_id())?;
        Some(format!("{}#{position}", message.id().key()))
    });
    place.unwrap_or(key)
}

/// What a run that is over left in its thread.
async fn ended(saver: &Arc<dyn CheckpointSaver>, thread: &str) -> Result<RunOutput, AgentError> {
    let threads = Threads::new(Arc::clone(saver));
    let state = threads.state(thread, None).await?.unwrap_or_default();
    Ok(RunOutput::of_state(state))
}

/// Why an agent that was called as a tool gave nothing. The message holds its source: the
/// outer model reads the message alone, without the chain.
#[derive(Debug, thiserror::Error)]
#[error("agent `{agent}` failed: {source}")]
struct AgentFailed {
    agent: String,
    source: AgentError,
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
