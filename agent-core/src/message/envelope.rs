//! One message: its id, who says what, and the wire text that is kept with it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    AssistantMessage, ContentPart, MessageBody, MessageId, Role, ToolCall, ToolResult, text_of,
};
use crate::wire_cache::WireCache;

/// One message of a history: immutable, shared, with an id.
///
/// Cloning is cheap. The wire form a provider needs is made once for a history, which keeps it.
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
    /// True once the wire text was written into a history.
    is_written: AtomicBool,
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
            is_written: AtomicBool::new(false),
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
        write: impl FnOnce(&Self, &mut String),
    ) -> &Arc<str> {
        self.0.wire.get_or_make([profile, ""], || {
            let mut text = String::new();
            write(self, &mut text);
            text
        })
    }

    /// Adds the wire text for a provider profile to that of a history, which keeps it. What a
    /// second history or provider asks for is kept with the message too.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(crate) fn push_wire(
        &self,
        profile: &'static str,
        history: &mut String,
        write: impl FnOnce(&Self, &mut String),
    ) {
        let is_first = !self.0.is_written.swap(true, Ordering::Relaxed);
        match is_first && self.0.wire.is_empty() {
            true => write(self, history),
            false => history.push_str(self.wire(profile, write)),
        }
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
