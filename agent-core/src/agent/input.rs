//! What a run is given to answer.

use crate::message::Message;

/// The messages a run starts with: a text, one message, or a whole history.
#[derive(Debug, Clone, Default)]
pub struct Input(pub(super) Vec<Message>);

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self(vec![Message::user(text)])
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self(vec![Message::user(text)])
    }
}

impl From<Message> for Input {
    fn from(message: Message) -> Self {
        Self(vec![message])
    }
}

impl From<Vec<Message>> for Input {
    fn from(messages: Vec<Message>) -> Self {
        Self(messages)
    }
}

impl From<&[Message]> for Input {
    fn from(messages: &[Message]) -> Self {
        Self(messages.to_vec())
    }
}
