//! The order of messages for servers that want roles to take turns.
//!
//! Neighbours of one role become one message, a system message behind others is said by the
//! user, and where a role is missing a word is put in. What is alone is sent as it is kept.

use bytes::Bytes;
use serde_json::{Value, json};

use super::profile::Quirks;
use super::wire::{self, Written};
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, Role};
use crate::model::ChatRequest;

/// What is said between results and the user.
const BRIDGE: &str = r#",{"role":"assistant","content":"OK."}"#;

/// What is said for a user who says nothing.
pub(super) const FILLER: &str = r#",{"role":"user","content":"Go on."}"#;

/// The messages, each with a comma before it.
pub(super) fn pieces(request: &ChatRequest, written: &Written) -> Vec<Bytes> {
    let mut turns = Turns {
        pieces: Vec::new(),
        last: Role::System,
        group: Vec::new(),
        written,
    };
    for message in request.messages() {
        turns.take(message);
    }
    turns.flush();
    if matches!(turns.last, Role::Assistant | Role::System) {
        turns.push(Role::User, Bytes::from_static(FILLER.as_bytes()));
    }
    turns.pieces
}

struct Turns<'a> {
    pieces: Vec<Bytes>,
    /// Who spoke last, among the pieces.
    last: Role,
    /// Neighbours of one role.
    group: Vec<Message>,
    written: &'a Written,
}

impl Turns<'_> {
    fn take(&mut self, message: &Message) {
        let is_first = matches!(self.last, Role::System)
            && self
                .group
                .iter()
                .all(|message| message.role() == Role::System);
        let message = match message.body() {
            MessageBody::System(text) if !is_first => Message::user(text.as_str()),
            _ => message.clone(),
        };
        let pictures = wire::pictures(message.tool_results());
        let role = message.role();
        if !wire::says_something(&message) {
            return;
        }
        if self.group.last().is_some_and(|other| other.role() != role) || role == Role::Tool {
            self.flush();
        }
        self.group.push(message);
        if !pictures.is_empty() {
            self.flush();
            self.group.push(Message::user_parts(pictures));
        }
    }

    fn flush(&mut self) {
        let group = std::mem::take(&mut self.group);
        let Some(first) = group.first() else { return };
        let role = first.role();
        let piece = match &*group {
            [_] if role != Role::Tool => self.written.shared(first),
            [_] => Bytes::from(wire::tool_results(
                first.tool_results(),
                self.written.quirks,
            )),
            group => Bytes::from(format!(",{}", merged(role, group, self.written.quirks))),
        };
        match (self.last, role) {
            (Role::Tool, Role::User) => self.pieces.push(Bytes::from_static(BRIDGE.as_bytes())),
            (Role::System, Role::Assistant) => {
                self.pieces.push(Bytes::from_static(FILLER.as_bytes()));
            }
            _ => {}
        }
        self.push(role, piece);
    }

    fn push(&mut self, role: Role, piece: Bytes) {
        self.last = role;
        self.pieces.push(piece);
    }
}

/// One message of several.
fn merged(role: Role, group: &[Message], quirks: &Quirks) -> Value {
    tracing::debug!(
        count = group.len(),
        ?role,
        "neighbours are sent as one message"
    );
    match role {
        Role::System => {
            let texts: Vec<String> = group.iter().map(Message::text).collect();
            json!({"role": "system", "content": texts.join("\n\n")})
        }
        Role::Assistant => {
            let answers = || group.iter().filter_map(Message::as_assistant);
            let texts: Vec<&str> = answers()
                .map(|answer| &*answer.text)
                .filter(|text| !text.is_empty())
                .collect();
            let reasoning: String = answers().filter_map(|it| it.reasoning.as_deref()).collect();
            let calls = answers().flat_map(|answer| answer.tool_calls.clone());
            let reasoning = Some(reasoning).filter(|text| !text.is_empty());
            let answer = AssistantMessage::new(texts.join("\n\n"), reasoning, calls.collect());
            wire::assistant(&answer, quirks)
        }
        Role::User | Role::Tool => {
            let parts = group.iter().filter_map(|message| match message.body() {
                MessageBody::User(parts) => Some(parts),
                _ => None,
            });
            let parts: Vec<ContentPart> = parts.flatten().cloned().collect();
            let texts: Option<Vec<&str>> = parts.iter().map(ContentPart::as_text).collect();
            match texts {
                Some(texts) => json!({"role": "user", "content": texts.join("\n\n")}),
                None => wire::user(&parts),
            }
        }
    }
}
