//! What a run ends with.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::message::{Message, ToolResult};
use crate::model::{FinishReason, Usage};
use crate::state::State;
use crate::tool::InterruptRequest;

/// A limit that ended a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Model calls of the run.
    ModelCalls,
    /// Tool calls of the turn.
    ToolCalls,
    /// Calls of this tool in the turn.
    ToolCallsOf(String),
    /// One call with one result, again and again.
    RepeatedCall,
    /// Errors of tool calls in a row.
    ConsecutiveErrors,
    /// How deep runs may be nested.
    Depth,
    /// Jumps of hooks between two model calls.
    Jumps,
    /// The run's own time.
    Deadline,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelCalls => "its model calls",
            Self::ToolCalls => "its tool calls",
            Self::ToolCallsOf(tool) => return write!(f, "its calls of `{tool}`"),
            Self::RepeatedCall => "one call, again and again",
            Self::ConsecutiveErrors => "errors in a row",
            Self::Depth => "the depth of nested runs",
            Self::Jumps => "the jumps of its hooks",
            Self::Deadline => "its time",
        })
    }
}

/// What is asked where a run pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InterruptKind {
    /// A tool, or a hook, asks something of its own: any answer.
    Question,
    /// A call waits for approval: `Answer::approve`, `edit`, `reject` or `respond`.
    Approval,
    /// A call was cut off and may have run: as for an approval, which runs it again.
    InDoubt,
    /// Nobody is asked: the run was stopped from outside, and any resume goes on.
    Stop,
}

impl InterruptKind {
    /// True if the answer is a decision about a call.
    pub(crate) fn is_decision(self) -> bool {
        matches!(self, Self::Approval | Self::InDoubt)
    }
}

/// Why a run pauses: a tool call, or a hook, that waits for a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Interrupt {
    /// By which it is answered; the same as long as it waits.
    pub id: String,
    /// What is asked.
    pub kind: InterruptKind,
    /// The node that waits.
    pub node: String,
    /// The call's id; of a run inside of a call, that of its own call. Empty if no call asks.
    pub call_id: String,
    /// The tool's name; empty if no call asks.
    pub tool: String,
    /// What is asked of the person. For an approval: `tool`, `arguments`, and a `question` if
    /// there is one.
    pub request: InterruptRequest,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The model, or a `return_direct` tool, gave the answer.
    Finished,
    /// Somebody waits for a person. Finished siblings of a call are kept in the state. A run of a
    /// thread goes on by [`ReactAgent::resume`](crate::ReactAgent::resume).
    Interrupted(Vec<Interrupt>),
    /// A limit was reached; every open call was answered.
    LimitReached(Limit),
    /// The run was cancelled; every open call was answered.
    Cancelled,
    /// The run ended with an error, which holds this output; every open call was answered.
    Failed,
}

impl Outcome {
    /// The outcome in one word, for spans.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Interrupted(_) => "interrupted",
            Self::LimitReached(_) => "limit_reached",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// What a run gave: the answer, the history, the state, and how it ended.
#[derive(Debug, Clone)]
pub struct RunOutput(Arc<OutputParts>);

#[derive(Debug)]
pub(crate) struct OutputParts {
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
    pub(crate) finish_reason: Option<FinishReason>,
    pub(crate) usage: Usage,
    /// How many model calls and tool calls there were.
    pub(crate) calls: (u32, u32),
    pub(crate) state: State,
    pub(crate) new_from: usize,
    pub(crate) direct_results: Vec<ToolResult>,
    pub(crate) unsupported: Vec<&'static str>,
}

impl RunOutput {
    pub(crate) fn new(parts: OutputParts) -> Self {
        Self(Arc::new(parts))
    }

    /// What a run gives that ended before it had its state.
    pub(crate) fn unbegun(outcome: Outcome) -> Self {
        Self::new(OutputParts {
            outcome,
            text: String::new(),
            finish_reason: None,
            usage: Usage::default(),
            calls: (0, 0),
            state: State::new(),
            new_from: 0,
            direct_results: Vec::new(),
            unsupported: Vec::new(),
        })
    }

    /// What an earlier run left, as far as its state tells.
    pub(crate) fn of_state(state: State) -> Self {
        let answer = state.messages().last().and_then(Message::as_assistant);
        Self::new(OutputParts {
            outcome: Outcome::Finished,
            text: answer.map_or_else(String::new, |answer| answer.text.clone()),
            finish_reason: None,
            usage: Usage::default(),
            calls: (0, 0),
            new_from: state.messages().len(),
            state,
            direct_results: Vec::new(),
            unsupported: Vec::new(),
        })
    }

    /// How the run ended.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.0.outcome
    }

    /// The answer: the last reply's text, or the `return_direct` results.
    ///
    /// Of an answer of a form this is the JSON, without words around it. One direct result stands
    /// verbatim; of several this is a JSON array, in which results
    /// that are JSON stand as they are and others as strings. Empty if a run ended early.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The answer read as JSON. For an agent with an output type, and an outcome of
    /// [`Outcome::Finished`], it fits.
    ///
    /// # Errors
    ///
    /// The answer is not the JSON of a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// Why the last reply ended; `return_direct` if tools gave the answer.
    #[must_use]
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.0.finish_reason.as_ref()
    }

    pub(crate) fn calls(&self) -> (u32, u32) {
        self.0.calls
    }

    /// Token counts summed over every round of the run.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.0.usage
    }

    /// The settings of the run that its model's provider has not, by the names of their fields;
    /// they were not sent.
    #[must_use]
    pub fn unsupported(&self) -> &[&'static str] {
        &self.0.unsupported
    }

    /// The state at the end.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.0.state
    }

    /// The whole history.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.0.state.messages()
    }

    /// What this run added to the history, its input included.
    #[must_use]
    pub fn new_messages(&self) -> &[Message] {
        self.messages().get(self.0.new_from..).unwrap_or_default()
    }

    /// The results that are the answer because their tools are `return_direct`.
    #[must_use]
    pub fn direct_results(&self) -> &[ToolResult] {
        &self.0.direct_results
    }
}
