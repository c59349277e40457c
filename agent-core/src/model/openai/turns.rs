//! The order of messages for servers that want roles to take turns, or the system in front.
//!
//! Neighbours of one role become one message, a system message behind others is said by the
//! user, and where a role is missing a word is put in. What is alone is sent as it is kept.

use std::sync::Arc;

use super::message;
use super::quirks::Quirks;
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, Role};
use crate::model::ChatRequest;
use crate::model::http::Piece;
use crate::model::mend::{tell_left_out, tell_put_in, tell_said_by_user};

/// What is said between results and the user.
const BRIDGE: &str = r#",{"role":"assistant","content":"OK."}"#;

/// What is said for a user who says nothing.
pub(super) const FILLER: &str = r#",{"role":"user","content":"Go on."}"#;

/// The messages, each with a comma before it. Their text is kept with the history and grows, but for
/// the last one, which may grow itself.
pub(super) fn pieces(request: &ChatRequest, quirks: &'static Quirks) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(4);
    pieces.extend(front(request, quirks));
    let transcript = request.transcript();
    let write = |message: &Message, text: &mut String, turns: &mut Turns| {
        turns.take(message, text, quirks);
    };
    let (text, last, speaker) = transcript.text(quirks.name, write, |text, turns| {
        (Arc::clone(text), turns.last(quirks), turns.speaker())
    });
    pieces.push(text.into());
    pieces.extend(last);
    if matches!(speaker, None | Some(Role::Assistant)) {
        tell_put_in(FILLER);
        pieces.push(FILLER.into());
    }
    pieces
}

/// The messages as they are, but for one of the system in front and none behind it.
pub(super) fn system_first(request: &ChatRequest, quirks: &'static Quirks) -> Vec<Piece> {
    let write = |message: &Message, text: &mut String, has_begun: &mut bool| {
        let says_something = message::says_something(message);
        match message.body() {
            MessageBody::System(said) if says_something && *has_begun => {
                tell_said_by_user(message);
                message::push_text(text, "user", said);
            }
            MessageBody::System(_) if says_something => {}
            MessageBody::System(_) => tell_left_out(message),
            _ => {
                *has_begun |= says_something;
                message::push_kept(text, message, quirks);
            }
        }
    };
    let transcript = request.transcript();
    let text = transcript.text(quirks.name, write, |text, _| Arc::clone(text).into());
    front(request, quirks).into_iter().chain([text]).collect()
}

/// What the system says in front, as one message.
fn front(request: &ChatRequest, quirks: &'static Quirks) -> Option<Piece> {
    let is_system = |message: &&Message| message.role() == Role::System;
    let said = request.messages().filter(|it| message::says_something(it));
    let system: Vec<&Message> = said.take_while(is_system).collect();
    match &*system {
        [] => None,
        [only] => Some(message::kept(only, quirks).into()),
        several => {
            let several: Vec<Message> = several.iter().copied().cloned().collect();
            let mut text = String::new();
            push_merged(&mut text, &several, quirks);
            Some(text.into())
        }
    }
}

/// What is known of the messages that were seen, of which those of the system in front are none.
#[derive(Default)]
struct Turns {
    /// The last neighbours of one role; they are written once another role speaks.
    group: Vec<Message>,
    /// True if the last of them stands in the history as it is sent.
    is_own: bool,
}

impl Turns {
    fn speaker(&self) -> Option<Role> {
        self.group.last().map(Message::role)
    }

    /// What is not written yet.
    fn last(&self, quirks: &'static Quirks) -> Option<Piece> {
        match &*self.group {
            [] => None,
            [only] if self.is_plain(only) => Some(message::kept(only, quirks).into()),
            _ => {
                let mut text = String::new();
                self.push_to(&mut text, quirks);
                Some(text.into())
            }
        }
    }

    /// True if a message that is alone is sent as it is kept.
    fn is_plain(&self, only: &Message) -> bool {
        self.is_own && !message::has_pictures(only.tool_results())
    }

    /// Adds the last neighbours as one message, with a comma before it.
    fn push_to(&self, out: &mut String, quirks: &'static Quirks) {
        match &*self.group {
            [] => {}
            [only] if self.is_plain(only) => message::push_kept(out, only, quirks),
            [only] if self.is_own => message::push_results(out, only.tool_results(), quirks),
            group => push_merged(out, group, quirks),
        }
    }

    fn take(&mut self, message: &Message, text: &mut String, quirks: &'static Quirks) {
        if !message::says_something(message) {
            return tell_left_out(message);
        }
        match message.body() {
            MessageBody::System(_) if self.group.is_empty() => {}
            MessageBody::System(said) => {
                tell_said_by_user(message);
                self.add(Message::user(said.as_str()), false, text, quirks);
            }
            _ => self.add(message.clone(), true, text, quirks),
        }
        let pictures = message::pictures(message.tool_results());
        if !pictures.is_empty() {
            self.add(Message::user_parts(pictures), false, text, quirks);
        }
    }

    fn add(&mut self, message: Message, is_own: bool, text: &mut String, quirks: &'static Quirks) {
        let (speaker, role) = (self.speaker(), message.role());
        if speaker != Some(role) || role == Role::Tool {
            self.push_to(text, quirks);
            let missing = match (speaker, role) {
                (Some(Role::Tool), Role::User) => Some(BRIDGE),
                (None, Role::Assistant) => Some(FILLER),
                _ => None,
            };
            if let Some(words) = missing {
                tell_put_in(words);
                text.push_str(words);
            }
            self.group.clear();
        }
        self.group.push(message);
        self.is_own = is_own;
    }
}

/// Adds one message of several, with a comma before it.
fn push_merged(out: &mut String, group: &[Message], quirks: &Quirks) {
    let (role, count) = (group.first().map_or(Role::User, Message::role), group.len());
    tracing::debug!(count, ?role, "neighbours are sent as one message");
    match role {
        Role::System => {
            let texts: Vec<String> = group.iter().map(|message| message.text()).collect();
            message::push_text(out, "system", &texts.join("\n\n"));
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
            message::push_assistant(out, &answer, quirks);
        }
        Role::User | Role::Tool => {
            let parts = group.iter().filter_map(|message| match message.body() {
                MessageBody::User(parts) => Some(parts),
                _ => None,
            });
            let parts: Vec<ContentPart> = parts.flatten().cloned().collect();
            let texts: Option<Vec<&str>> = parts.iter().map(ContentPart::as_text).collect();
            match texts {
                Some(texts) => message::push_text(out, "user", &texts.join("\n\n")),
                None => message::push_user(out, &parts, quirks),
            }
        }
    }
}
