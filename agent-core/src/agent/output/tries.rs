//! What a history tells of the tries at an answer of its form.
//!
//! A run that goes on after its program has ended knows no more than its thread does, so what the
//! model was told about its answers is known by its id.

use super::FINAL_ANSWER;
use crate::message::{Message, MessageId, Role};

/// Begins the id of a message that asks for the form.
const ASKED: &str = "form:";

/// Begins the id of one that asks again, after an answer that did not fit.
const AGAIN: &str = "form-again:";

/// The id of what the model is told behind this reply.
pub(super) fn id(reply: &Message, is_try: bool) -> MessageId {
    let begin = if is_try { AGAIN } else { ASKED };
    MessageId::new(format!("{begin}{}", reply.id().as_str()))
}

/// The tries of a turn that is under way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::agent) struct Tries {
    /// True once the model was told to give its answer in its form.
    pub(in crate::agent) asked: bool,
    /// How many replies did not fit.
    pub(in crate::agent) misfits: u32,
}

/// The messages of the turn that is under way: behind the last thing that the user said.
pub(in crate::agent) fn turn(messages: &[Message]) -> &[Message] {
    let is_ours = |message: &Message| {
        let id = message.id().as_str();
        id.starts_with(ASKED) || id.starts_with(AGAIN)
    };
    let asked = messages
        .iter()
        .rposition(|message| message.role() == Role::User && !is_ours(message));
    &messages[asked.map_or(0, |asked| asked + 1)..]
}

impl Tries {
    pub(in crate::agent) fn of(turn: &[Message]) -> Self {
        let mut tries = Self::default();
        for message in turn {
            let is_again = message.id().as_str().starts_with(AGAIN);
            tries.asked |= message.role() == Role::User;
            let refused = |result: &crate::message::ToolResult| {
                result.is_error && result.name == FINAL_ANSWER
            };
            if is_again || message.tool_results().iter().any(refused) {
                tries.misfits = tries.misfits.saturating_add(1);
            }
        }
        tries
    }
}
