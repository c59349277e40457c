//! Messages between a user, a model and its tools.
//!
//! [`Message`] is a shared, immutable value with an id; [`Transcript`] is a history that
//! knows which tool calls are still open and cannot become invalid.
//!
//! Not here: how a provider writes messages (`model`).

mod call;
mod content;
mod mend;
mod opaque;
mod repair;
mod transcript;

use std::fmt;
use std::sync::Arc;

use crate::wire_cache::WireCache;

pub use call::{InvalidArguments, ToolCall, ToolResult};
pub(crate) use content::text_of;
pub use content::{ContentPart, Image};
pub use mend::Repair;
pub use opaque::OpaquePart;
pub use transcript::{Transcript, TranscriptError};

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

/// One message of a history: immutable, shared, with an id.
///
/// Cloning is cheap. The wire form a provider needs is made once and kept with it.
///
/// ```
/// use agent_core::Message;
///
/// let message = Message::user("Is Beijing colder than Oslo?");
/// assert_eq!(message.text(), "Is Beijing colder than Oslo?");
/// ```
#[derive(Clone)]
pub struct Message(Arc<Inner>);

struct Inner {
    id: MessageId,
    body: MessageBody,
    wire: WireCache,
}

impl Message {
    /// A message with a fresh id.
    #[must_use]
    pub fn new(body: MessageBody) -> Self {
        Self::with_id(MessageId::new(crate::id::next("msg")), body)
    }

    /// A message with an id given from outside.
    #[must_use]
    pub fn with_id(id: MessageId, body: MessageBody) -> Self {
        Self(Arc::new(Inner {
            id,
            body,
            wire: WireCache::default(),
        }))
    }

    /// A system message.
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(MessageBody::System(text.into()))
    }

    /// A user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(MessageBody::User(vec![ContentPart::Text(text.into())]))
    }

    /// A user message of several parts.
    #[must_use]
    pub fn user_parts(parts: Vec<ContentPart>) -> Self {
        Self::new(MessageBody::User(parts))
    }

    /// A model's answer of text alone.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(MessageBody::Assistant(AssistantMessage::new(
            text,
            None,
            Vec::new(),
        )))
    }

    /// A tool message: the results of the assistant message before it.
    #[must_use]
    pub fn tool(results: Vec<ToolResult>) -> Self {
        Self::new(MessageBody::Tool(results))
    }

    /// The message's id.
    #[must_use]
    pub fn id(&self) -> &MessageId {
        &self.0.id
    }

    /// What the message says.
    #[must_use]
    pub fn body(&self) -> &MessageBody {
        &self.0.body
    }

    /// Who speaks.
    #[must_use]
    pub fn role(&self) -> Role {
        match &self.0.body {
            MessageBody::System(_) => Role::System,
            MessageBody::User(_) => Role::User,
            MessageBody::Assistant(_) => Role::Assistant,
            MessageBody::Tool(_) => Role::Tool,
        }
    }

    /// The text of the message; parts and results are joined by a line break, images left out.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.0.body {
            MessageBody::System(text) => text.clone(),
            MessageBody::User(parts) => text_of(parts),
            MessageBody::Assistant(message) => message.text.clone(),
            MessageBody::Tool(results) => {
                let texts: Vec<String> = results.iter().map(ToolResult::text).collect();
                texts.join("\n")
            }
        }
    }

    /// The model's answer, if this is one.
    #[must_use]
    pub fn as_assistant(&self) -> Option<&AssistantMessage> {
        match &self.0.body {
            MessageBody::Assistant(message) => Some(message),
            _ => None,
        }
    }

    /// The tool calls of an assistant message; empty for every other.
    #[must_use]
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.as_assistant()
            .map_or(&[], |message| &message.tool_calls)
    }

    /// The results of a tool message; empty for every other.
    #[must_use]
    pub fn tool_results(&self) -> &[ToolResult] {
        match &self.0.body {
            MessageBody::Tool(results) => results,
            _ => &[],
        }
    }

    /// The wire text for a provider profile, made once and shared with every clone.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(crate) fn wire(
        &self,
        profile: &'static str,
        make: impl FnOnce(&Self) -> String,
    ) -> &Arc<str> {
        self.0.wire.get_or_make([profile, ""], || make(self))
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("id", &self.0.id.as_str())
            .field("body", &self.0.body)
            .finish()
    }
}

/// Messages are equal if their ids and bodies are.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.id == other.0.id && self.0.body == other.0.body)
    }
}

impl From<AssistantMessage> for Message {
    fn from(message: AssistantMessage) -> Self {
        Self::new(MessageBody::Assistant(message))
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}
