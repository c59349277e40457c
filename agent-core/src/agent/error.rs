//! Why an agent could not be built, or a run gave no output.

use crate::boxed::BoxError;
use crate::event::RunOutput;
use crate::graph::checkpoint::CheckpointError;
use crate::graph::{GraphError, RunError};
use crate::message::{ToolCall, TranscriptError};
use crate::model::{FinishReason, ModelError};
use crate::schema::SchemaError;
use crate::state::StateError;
use crate::tool::{ToolError, ToolSetError};

use super::output::OutputError;
use super::template::TemplateError;

/// Why a run gave no output. A pause, a limit and a cancellation are outcomes, not errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model gave no reply.
    #[error("the model gave no reply")]
    Model {
        /// What went wrong.
        source: ModelError,
        /// Everything up to there.
        output: RunOutput,
    },
    /// The model's last reply holds neither text nor tool calls.
    #[error("the model's answer is empty{}", ended(output))]
    EmptyAnswer {
        /// Everything up to there.
        output: RunOutput,
    },
    /// The model gave no answer of the form that was asked for, however often it was asked.
    #[error("the model gave no answer of the form that was asked for")]
    InvalidOutput {
        /// What is wrong with the last one.
        source: OutputError,
        /// Everything up to there.
        output: RunOutput,
    },
    /// A tool ended the run.
    #[error("tool `{tool}` ended the run")]
    Tool {
        /// The tool's name.
        tool: String,
        /// The call's id.
        call_id: String,
        /// What the tool said.
        source: ToolError,
        /// Everything up to there. The calls that had ended keep their results; the others
        /// are answered with an error that says so.
        output: RunOutput,
    },
    /// A tool returned an error of a type the agent passes through, as it is.
    #[error("tool `{tool}` returned an error that is passed through")]
    PassedThrough {
        /// The tool's name.
        tool: String,
        /// The tool's error.
        source: BoxError,
        /// Everything up to there, as with [`AgentError::Tool`].
        output: RunOutput,
    },
    /// A hook failed.
    #[error("hook `{hook}` failed")]
    Hook {
        /// The hook's name.
        hook: String,
        /// What it said.
        source: BoxError,
        /// Everything up to there.
        output: RunOutput,
    },
    /// The run has neither an input nor messages.
    #[error("nothing to answer: the input holds no message")]
    NoInput,
    /// The input's messages do not pair tool calls and results.
    #[error("the input is no valid history")]
    InvalidInput(#[from] TranscriptError),
    /// A thread needs a saver to remember it.
    #[error("thread `{thread}` was asked for, but the agent has no saver")]
    NoSaver {
        /// The thread's id.
        thread: String,
    },
    /// The run's thread cannot be read, written or resumed: somebody else has it, an answer does
    /// not fit, or the store does not work. What is stored is as it was.
    #[error("the run's thread cannot be used")]
    Thread {
        /// What is wrong with it.
        source: Box<CheckpointError>,
        /// Everything up to there, if the run had begun.
        output: Option<RunOutput>,
    },
    /// A tool needs a host value nobody gave.
    #[error("tool `{tool}` needs a host value of type `{type_name}`: give one with `.host(value)`")]
    MissingHost {
        /// The tool's name.
        tool: String,
        /// The type it needs.
        type_name: &'static str,
    },
    /// The instruction cannot be rendered.
    #[error("the instruction cannot be rendered")]
    Instruction(#[from] TemplateError),
    /// Tools given for the run are no set.
    #[error("the tools of the run are no set")]
    Tools(#[from] ToolSetError),
    /// The state refused a value that the run was to start with.
    #[error("the state cannot be updated")]
    State(#[from] StateError),
    /// The graph could not go on, for example because a tool's update of the state, or the
    /// answer under its output key, does not fit what is there, or because a hook panicked.
    #[error("the agent's graph could not go on")]
    Graph {
        /// What went wrong, and in which node.
        source: BoxError,
        /// Everything up to there.
        output: RunOutput,
    },
}

impl AgentError {
    /// True if the same run may succeed later without a change.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Model { source, .. } => source.is_retryable(),
            Self::Thread { source, .. } => source.is_retryable(),
            _ => false,
        }
    }

    /// What the run gave before it failed: its history, which is closed, its state and its
    /// usage. The history can be the input of another run. `None` if the run never began.
    #[must_use]
    pub fn output(&self) -> Option<&RunOutput> {
        match self {
            Self::Model { output, .. }
            | Self::EmptyAnswer { output }
            | Self::InvalidOutput { output, .. }
            | Self::Tool { output, .. }
            | Self::Hook { output, .. }
            | Self::Graph { output, .. }
            | Self::PassedThrough { output, .. } => Some(output),
            Self::Thread { output, .. } => output.as_ref(),
            _ => None,
        }
    }

    /// Why the thread cannot be used, if that is what is wrong.
    pub(super) fn of_thread(&self) -> Option<&CheckpointError> {
        match self {
            Self::Thread { source, .. } => Some(source),
            _ => None,
        }
    }

    /// The error in one word, for spans.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::EmptyAnswer { .. } => "empty_answer",
            Self::InvalidOutput { .. } => "invalid_output",
            Self::Tool { .. } | Self::PassedThrough { .. } => "tool",
            Self::Hook { .. } => "hook",
            Self::NoInput | Self::InvalidInput(_) => "input",
            Self::NoSaver { .. } => "no_saver",
            Self::Thread { .. } => "thread",
            Self::MissingHost { .. } => "missing_host",
            Self::Instruction(_) => "instruction",
            Self::Tools(_) => "tools",
            Self::State(_) => "state",
            Self::Graph { .. } => "graph",
        }
    }
}

/// Why a reply ended, where that may be why it is empty.
fn ended(output: &RunOutput) -> String {
    match output.finish_reason() {
        None | Some(FinishReason::Stop) => String::new(),
        Some(reason) => format!(": it ended with `{reason}`"),
    }
}

/// What ended a run as an error, before its output is known.
#[derive(Debug)]
pub(super) enum Failure {
    Model(ModelError),
    Output(OutputError),
    Tool { call: ToolCall, source: ToolError },
    PassedThrough { tool: String, source: BoxError },
    Hook { hook: String, source: BoxError },
    Graph(BoxError),
    Checkpoint(Box<CheckpointError>),
}

impl From<CheckpointError> for AgentError {
    fn from(error: CheckpointError) -> Self {
        Self::Thread {
            source: Box::new(error),
            output: None,
        }
    }
}

impl Failure {
    /// What the graph ended with.
    pub(super) fn of(error: RunError) -> Self {
        match error {
            RunError::Checkpoint { source, .. } => Self::Checkpoint(source),
            error => Self::Graph(error.into()),
        }
    }

    pub(super) fn with(self, output: RunOutput) -> AgentError {
        match self {
            Self::Model(source) => AgentError::Model { source, output },
            Self::Output(source) => AgentError::InvalidOutput { source, output },
            Self::Tool { call, source } => match source.downcast_ref::<OutputError>() {
                Some(misfit) => AgentError::InvalidOutput {
                    source: misfit.clone(),
                    output,
                },
                None => AgentError::Tool {
                    tool: call.name.into(),
                    call_id: call.id.into(),
                    source,
                    output,
                },
            },
            Self::Checkpoint(source) => AgentError::Thread {
                source,
                output: Some(output),
            },
            Self::Graph(source) => AgentError::Graph { source, output },
            Self::Hook { hook, source } => AgentError::Hook {
                hook,
                source,
                output,
            },
            Self::PassedThrough { tool, source } => AgentError::PassedThrough {
                tool,
                source,
                output,
            },
        }
    }
}

/// One thing that is wrong with an agent's configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildFault {
    /// The agent has no name.
    #[error("the agent's name is blank")]
    BlankName,
    /// The output key is the one of the messages.
    #[error("`output_key` cannot be `messages`, the key of the history")]
    ReservedOutputKey,
    /// A setting names a tool that the agent has not.
    #[error("`{setting}` names the tool `{tool}`, which the agent has not")]
    #[non_exhaustive]
    NoSuchTool {
        /// The setting.
        setting: &'static str,
        /// The tool.
        tool: String,
    },
    /// Two hooks have one name.
    #[error("two hooks are named `{name}`")]
    DuplicateHook {
        /// The shared name.
        name: String,
    },
    /// The tools are no set.
    #[error(transparent)]
    Tools(#[from] ToolSetError),
    /// The agent's graph does not compile.
    #[error(transparent)]
    Graph(GraphError),
    /// The schema of the output is none.
    #[error("the schema of the output is refused: {}", list(.0.faults()))]
    Output(SchemaError),
    /// A tool has the name of the one by which the answer is given.
    #[error(
        "a tool is named `{tool}`, which is the tool that gives the answer: rename it, or choose another `output_mode`"
    )]
    #[non_exhaustive]
    OutputTool {
        /// The name.
        tool: &'static str,
    },
    /// A number or a time is zero, so that nothing could ever run.
    #[error("`{setting}` must not be zero")]
    Zero {
        /// The builder method, or the one of its limits.
        setting: &'static str,
    },
}

/// Why an agent could not be built: every fault, not only the first.
#[derive(Debug, thiserror::Error)]
#[error("the agent cannot be built: {}", list(.faults))]
pub struct BuildError {
    faults: Vec<BuildFault>,
}

impl BuildError {
    pub(super) fn new(faults: Vec<BuildFault>) -> Self {
        Self { faults }
    }

    /// Every fault.
    #[must_use]
    pub fn faults(&self) -> &[BuildFault] {
        &self.faults
    }
}

fn list(faults: &[impl ToString]) -> String {
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
