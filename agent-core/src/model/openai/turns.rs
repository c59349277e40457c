//! The order of messages for servers that want roles to take turns.
//!
//! Neighbours of one role become one message, a system message behind others is said by the
//! user, and where a role is missing a word is put in. What is alone is sent as it is kept.

use std::borrow::Cow;

use super::message;
use super::profile::Quirks;
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, Role};
use crate::model::ChatRequest;
use crate::model::http::Piece;

/// What is said between results and the user.
const BRIDGE: &str = r#",{"role":"assistant","content":"OK."}"#;

/// What is said for a user who says nothing.
pub(super) const FILLER: &str = r#",{"role":"user","content":"Go on."}"#;

/// The messages, each with a comma before it.
pub(super) fn pieces<'a>(request: &'a ChatRequest, quirks: &'static Quirks) -> Vec<Piece<'a>> {
    let mut turns = Turns {
        pieces: Vec::with_capacity(request.transcript().len() + 2),
        last: Role::System,
        group: Vec::new(),
        quirks,
    };
    for message in request.messages() {
        turns.take(message);
    }
    turns.flush();
    if matches!(turns.last, Role::Assistant | Role::System) {
        turns.push(Role::User, FILLER.into());
    }
    turns.pieces
}

struct Turns<'a> {
    pieces: Vec<Piece<'a>>,
    /// Who spoke last, among the pieces.
    last: Role,
    /// Neighbours of one role; owned where they are not sent as they stand in the history.
    group: Vec<Cow<'a, Message>>,
    quirks: &'static Quirks,
}

impl<'a> Turns<'a> {
    fn take(&mut self, message: &'a Message) {
        let is_first = matches!(self.last, Role::System)
            && self
                .group
                .iter()
                .all(|message| message.role() == Role::System);
        let message = match message.body() {
            MessageBody::System(text) if !is_first => Cow::Owned(Message::user(text.as_str())),
            _ => Cow::Borrowed(message),
        };
        let pictures = message::pictures(message.tool_results());
        let role = message.role();
        if !message::says_something(&message) {
            return;
        }
        if self.group.last().is_some_and(|other| other.role() != role) || role == Role::Tool {
            self.flush();
        }
        self.group.push(message);
        if !pictures.is_empty() {
            self.flush();
            self.group.push(Cow::Owned(Message::user_parts(pictures)));
        }
    }

    fn flush(&mut self) {
        let Some(first) = self.group.first() else {
            return;
        };
        let (role, quirks) = (first.role(), self.quirks);
        let piece = match (&*self.group, role) {
            ([Cow::Borrowed(only)], Role::Tool) if message::has_pictures(only.tool_results()) => {
                message::tool_results(only.tool_results(), quirks).into()
            }
            ([Cow::Borrowed(only)], _) => message::kept(only, quirks).into(),
            (group, _) => merged(role, group, quirks).into(),
        };
        self.group.clear();
        match (self.last, role) {
            (Role::Tool, Role::User) => self.pieces.push(BRIDGE.into()),
            (Role::System, Role::Assistant) => self.pieces.push(FILLER.into()),
            _ => {}
        }
        self.push(role, piece);
    }

    fn push(&mut self, role: Role, piece: Piece<'a>) {
        self.last = role;
        self.pieces.push(piece);
    }
}

/// One message of several, with a comma before it.
fn merged(role: Role, group: &[Cow<'_, Message>], quirks: &Quirks) -> String {
    let count = group.len();
    tracing::debug!(count, ?role, "neighbours are sent as one message");
    match role {
        Role::System => {
            let texts: Vec<String> = group.iter().map(|message| message.text()).collect();
            message::text_message("system", &texts.join("\n\n"))
        }
        Role::Assistant => {
            let answers = || group.iter().filter_map(|message| message.as_assistant());
            let texts: Vec<&str> = answers()
                .map(|answer| &*answer.text)
                .filter(|text| !text.is_empty())
                .collect();
            let reasoning: String = answers().filter_map(|it| it.reasoning.as_deref()).collect();
            let calls = answers().flat_map(|answer| answer.tool_calls.clone());
            let reasoning = Some(reasoning).filter(|text| !text.is_empty());
            let answer = AssistantMessage::new(texts.join("\n\n"), reasoning, calls.collect());
            message::assistant_message(&answer, quirks)
        }
        Role::User | Role::Tool => {
            let parts = group.iter().filter_map(|message| match message.body() {
                MessageBody::User(parts) => Some(parts),
                _ => None,
            });
            let parts: Vec<ContentPart> = parts.flatten().cloned().collect();
            let texts: Option<Vec<&str>> = parts.iter().map(ContentPart::as_text).collect();
            match texts {
                Some(texts) => message::text_message("user", &texts.join("\n\n")),
                None => message::user_message(&parts, quirks),
            }
        }
    }
}
