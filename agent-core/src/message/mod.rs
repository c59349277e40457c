//! Messages between a user, a model and its tools.
//!
//! [`Message`] is a shared, immutable value with an id; [`Transcript`] is a history that
//! knows which tool calls are still open and cannot become invalid.
//!
//! Not here: how a provider writes messages (`model`).

mod arguments;
mod call;
mod content;
pub(crate) mod envelope;
mod flat;
mod group;
mod log;
mod mend;
mod misfit;
mod opaque;
mod repair;
mod transcript;

use std::fmt;
use std::sync::Arc;

pub use arguments::InvalidArguments;
pub use call::{ToolCall, ToolResult};
pub use content::{ContentPart, Image};
pub(crate) use content::{Parts, parts, text_of};
pub(crate) use envelope::Message;
pub use mend::Repair;
pub use misfit::TranscriptError;
pub use opaque::OpaquePart;
pub use transcript::Transcript;

/// Identity of a message, by which it is found in its history. A fresh one meets no other; a
/// history does not look whether given ones are all different.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(Arc<str>);

impl MessageId {
    /// An id given from outside, for example one that was stored.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as the beginning of a key: no other id begins like this.
    pub(crate) fn key(&self) -> String {
        format!("{}:{}:", self.0.len(), self.0)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "callers match all four roles; a fifth is a breaking change"
)]
pub enum Role {
    /// Standing orders to the model.
    System,
    /// The person, or the program that asks.
    User,
    /// The model.
    Assistant,
    /// The results of one assistant message's tool calls.
    Tool,
}

/// What a message says, by role.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "callers match all four roles; a fifth is a breaking change"
)]
pub enum MessageBody {
    /// Standing orders to the model.
    System(String),
    /// What the person says, text and images in order.
    User(Vec<ContentPart>),
    /// What the model answered.
    Assistant(AssistantMessage),
    /// The results of the assistant message before it, one per call, in call order.
    Tool(Vec<ToolResult>),
}

/// An answer of a model: text, reasoning and tool calls.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct AssistantMessage {
    /// The visible text; empty if there is none.
    pub text: String,
    /// The model's reasoning, if the provider shows it.
    pub reasoning: Option<String>,
    /// The calls the model asks for, in order.
    pub tool_calls: Vec<ToolCall>,
    /// What only the provider understands, in order; it is sent back to it.
    pub opaque: Vec<OpaquePart>,
}

impl AssistantMessage {
    /// An answer with these three parts.
    pub fn new(
        text: impl Into<String>,
        reasoning: Option<String>,
        tool_calls: Vec<ToolCall>,
    ) -> Self {
        Self {
            text: text.into(),
            reasoning,
            tool_calls,
            opaque: Vec::new(),
        }
    }

    /// The same with parts that only the provider understands.
    #[must_use]
    pub fn with_opaque(mut self, parts: Vec<OpaquePart>) -> Self {
        self.opaque = parts;
        self
    }
}
