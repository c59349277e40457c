//! What a run tells while it goes on.
//!
//! A run is a stream of [`AgentEvent`]s, numbered from 1 without a gap; awaiting the run is
//! draining that stream. The first event is [`EventKind::RunStarted`], the last one
//! [`EventKind::RunFinished`] or an error.

pub(crate) mod numbered;
pub(crate) mod output;
mod partial;
mod sink;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::message::{Message, ToolCall, ToolResult};
use crate::model::{FinishReason, Usage};

pub(crate) use numbered::AgentEvent;
pub(crate) use output::OutputParts;
pub(crate) use output::{Interrupt, InterruptKind, Limit, Outcome, RunOutput};
pub(crate) use partial::{Partial, without_thoughts};
pub(crate) use sink::{Gate, Said, Sink, channel};

/// What happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EventKind {
    /// The run began, or one within a tool call of it.
    RunStarted {
        /// The run's id.
        run_id: Arc<str>,
        /// The thread's id, if there is one.
        thread_id: Option<Arc<str>>,
    },
    /// A node of the graph began.
    NodeStarted {
        /// The node.
        node: Arc<str>,
        /// The step, from 1.
        step: u64,
    },
    /// A node of the graph ended.
    NodeFinished {
        /// The node.
        node: Arc<str>,
        /// The step, from 1.
        step: u64,
        /// How long it took.
        duration: Duration,
    },
    /// The model wrote more text.
    TextDelta(String),
    /// The model wrote more reasoning.
    ReasoningDelta(String),
    /// The model wrote more of a tool call. For display; the call is not final yet.
    ToolCallDelta {
        /// Position of the call in the reply, from 0.
        index: usize,
        /// The tool's name, as far as it is known.
        name: String,
        /// The new piece of the arguments' text.
        arguments: String,
    },
    /// The model is asked again: what it wrote of this reply so far does not count.
    Retried {
        /// Which try this is, from 2.
        attempt: u32,
    },
    /// The model's reply is whole.
    ModelFinished {
        /// The reply, as it joins the history.
        message: Message,
        /// Why it ended.
        finish_reason: FinishReason,
        /// Its token counts, if the provider gave any.
        usage: Option<Usage>,
    },
    /// A tool call began to run.
    ToolStarted {
        /// The call.
        call: ToolCall,
    },
    /// A tool reported progress.
    ToolProgress {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// What the tool reported.
        value: Value,
    },
    /// A tool call failed and runs again: what it told of its progress does not count.
    ToolRetried {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// Which try this is, from 2.
        attempt: u32,
        /// What the last one failed with, as the model would read it.
        error: Arc<str>,
    },
    /// A tool call has its result. Events come as calls end; results stand in call order.
    ToolFinished {
        /// The result, as the model reads it.
        result: ToolResult,
        /// How long the call took, the wait for a free slot included.
        duration: Duration,
    },
    /// Keys of the state changed.
    StateUpdated {
        /// The keys.
        keys: Vec<Arc<str>>,
    },
    /// The run pauses for a person.
    Interrupted(Vec<Interrupt>),
    /// The run is over. Only a run's own stream tells this: that of a run within a tool call ends
    /// in the outer run with the call's [`EventKind::ToolFinished`].
    RunFinished(RunOutput),
}
