//! Writes messages as chat completions have them, each text with a comma before it.

use std::borrow::Cow;
use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::details;
use super::profile::Quirks;
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, ToolCall, ToolResult};
use crate::model::mend::{in_place_of_picture, picture_type, tool_name};

/// The message as it is sent, with a comma before it; empty if it says nothing. It is written
/// once.
pub(super) fn kept<'a>(message: &'a Message, quirks: &'static Quirks) -> &'a Arc<str> {
    message.wire(quirks.name, |message| written(message, quirks))
}

/// True unless a message is blank; some servers refuse those.
pub(super) fn says_something(message: &Message) -> bool {
    match message.body() {
        MessageBody::System(text) => !text.trim().is_empty(),
        MessageBody::User(parts) => !parts.iter().all(is_blank),
        MessageBody::Assistant(answer) => {
            !answer.text.trim().is_empty() || !answer.tool_calls.is_empty()
        }
        MessageBody::Tool(_) => true,
    }
}

fn is_blank(part: &ContentPart) -> bool {
    part.as_text().is_some_and(|text| text.trim().is_empty())
}

/// The messages of the wire that one message of ours becomes, each with a comma before it.
fn written(message: &Message, quirks: &Quirks) -> String {
    if !says_something(message) {
        return String::new();
    }
    match message.body() {
        MessageBody::System(text) => text_message("system", text),
        MessageBody::User(parts) => user_message(parts, quirks),
        MessageBody::Assistant(answer) => assistant_message(answer, quirks),
        MessageBody::Tool(results) => {
            let mut out = tool_results(results, quirks);
            // A tool message takes text only, so pictures follow in a user message.
            if has_pictures(results) {
                out.push_str(&user_message(&pictures(results), quirks));
            }
            out
        }
    }
}

/// The JSON of messages, each with a comma before it.
struct Texts(Vec<u8>);

impl Texts {
    fn push(&mut self, message: &impl Serialize) {
        let before = self.0.len();
        self.0.push(b',');
        if serde_json::to_writer(&mut self.0, message).is_err() {
            self.0.truncate(before);
        }
    }

    fn into_string(self) -> String {
        String::from_utf8(self.0).unwrap_or_default()
    }
}

/// One message, with a comma before it.
fn one(message: &impl Serialize) -> String {
    let mut text = Texts(Vec::with_capacity(256));
    text.push(message);
    text.into_string()
}

#[derive(Serialize)]
struct Said<'a, T> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    content: T,
}

impl<T> Said<'_, T> {
    fn by(role: &'static str, content: T) -> Self {
        Self {
            role,
            tool_call_id: None,
            content,
        }
    }
}

/// A message of text alone, with a comma before it.
pub(super) fn text_message(role: &'static str, text: &str) -> String {
    one(&Said::by(role, text))
}

/// A message of the user, with a comma before it.
pub(super) fn user_message(parts: &[ContentPart], quirks: &Quirks) -> String {
    if let [ContentPart::Text(text)] = parts {
        return text_message("user", text);
    }
    let parts = parts.iter().filter(|part| !is_blank(part));
    let parts: Vec<Value> = parts.map(|it| part(it, quirks)).collect();
    one(&Said::by("user", parts))
}

fn part(part: &ContentPart, quirks: &Quirks) -> Value {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = match part {
        ContentPart::Text(said) => return text(said),
        ContentPart::Image(image) => image,
    };
    let kind = picture_type(image);
    // Other servers take more kinds, or other ones.
    let refused = quirks.has_limits.then(|| in_place_of_picture(&kind));
    match refused.flatten() {
        Some(said) => text(&said),
        None => {
            let url = format!("data:{kind};base64,{}", image.base64());
            json!({"type": "image_url", "image_url": {"url": url}})
        }
    }
}

/// An answer, with a comma before it.
pub(super) fn assistant_message(answer: &AssistantMessage, quirks: &Quirks) -> String {
    one(&Assistant { answer, quirks })
}

struct Assistant<'a> {
    answer: &'a AssistantMessage,
    quirks: &'a Quirks,
}

impl Serialize for Assistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { answer, quirks } = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        let calls = &answer.tool_calls;
        // What the official clients send back; some servers refuse calls beside "".
        let content = Some(&*answer.text).filter(|text| !text.is_empty() || calls.is_empty());
        map.serialize_entry("content", &content)?;
        let details = details::of(&answer.opaque).filter(|_| quirks.reasoning_details);
        match (quirks.reasoning, &answer.reasoning) {
            _ if details.is_some() => map.serialize_entry("reasoning_details", &details)?,
            (Some(field), Some(reasoning)) => map.serialize_entry(field, reasoning)?,
            _ => {}
        }
        if !calls.is_empty() {
            map.serialize_entry("tool_calls", &Calls { calls, quirks })?;
        }
        map.end()
    }
}

struct Calls<'a> {
    calls: &'a [ToolCall],
    quirks: &'a Quirks,
}

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { calls, quirks } = *self;
        serializer.collect_seq(calls.iter().map(|call| Call { call, quirks }))
    }
}

struct Call<'a> {
    call: &'a ToolCall,
    quirks: &'a Quirks,
}

#[derive(Serialize)]
struct Called<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl Serialize for Call<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { call, quirks } = *self;
        // A server that reads the arguments takes an object only; the model sees what it wrote.
        let arguments = match call.invalid {
            None => Cow::Borrowed(&*call.arguments),
            Some(_) => json!({"invalid_arguments": call.arguments})
                .to_string()
                .into(),
        };
        let name = match quirks.names {
            Some(most) => tool_name(&call.name, most),
            None if call.name.is_empty() => tool_name("", 1),
            None => Cow::Borrowed(&*call.name),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &quirks.call_ids.sent(&call.id))?;
        map.serialize_entry("type", "function")?;
        map.serialize_entry("function", &Called { name, arguments })?;
        for (key, value) in &call.extra {
            if !matches!(&**key, "id" | "type" | "function") {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

/// The results, each a message with a comma before it.
pub(super) fn tool_results(results: &[ToolResult], quirks: &Quirks) -> String {
    let mut texts = Texts(Vec::with_capacity(256 * results.len().min(16)));
    for result in results {
        let text = result.joined_text();
        let content = match &*text {
            "" if has_pictures(std::slice::from_ref(result)) => {
                "The result is in the next user message."
            }
            text => text,
        };
        let id = quirks.call_ids.sent(&result.call_id);
        let said = Said {
            role: "tool",
            tool_call_id: Some(&id),
            content,
        };
        texts.push(&said);
    }
    texts.into_string()
}

pub(super) fn has_pictures(results: &[ToolResult]) -> bool {
    let mut parts = results.iter().flat_map(|result| &result.content);
    parts.any(|part| part.as_text().is_none())
}

/// The pictures among results, each set with a word where it comes from.
pub(super) fn pictures(results: &[ToolResult]) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    for result in results {
        let pictures = result
            .content
            .iter()
            .filter(|part| part.as_text().is_none());
        let mut pictures = pictures.cloned().peekable();
        if pictures.peek().is_some() {
            let text = format!("From tool `{}`, call `{}`:", result.name, result.call_id);
            parts.push(ContentPart::Text(text));
            parts.extend(pictures);
        }
    }
    parts
}
