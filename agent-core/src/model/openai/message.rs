//! Writes messages as chat completions have them, each text with a comma before it.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use super::details;
use super::quirks::Quirks;
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, ToolCall, ToolResult};
use crate::model::mend::{in_place_of_picture, picture_type, tell_left_out, tool_name};
use crate::model::writing::{push_string, push_value};

/// The message as it is sent, with a comma before it; empty if it says nothing. It is written
/// once.
pub(super) fn kept<'a>(message: &'a Message, quirks: &'static Quirks) -> &'a Arc<str> {
    message.wire(quirks.name, |message, out| {
        push_message(out, message, quirks)
    })
}

/// Adds what [`kept`] gives.
pub(super) fn push_kept(out: &mut String, message: &Message, quirks: &'static Quirks) {
    message.push_wire(quirks.name, out, |message, out| {
        push_message(out, message, quirks);
    });
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

/// Adds the messages of the wire that one message of ours becomes, each with a comma before it.
fn push_message(out: &mut String, message: &Message, quirks: &Quirks) {
    if !says_something(message) {
        return tell_left_out(message);
    }
    match message.body() {
        MessageBody::System(text) => push_text(out, "system", text),
        MessageBody::User(parts) => push_user(out, parts, quirks),
        MessageBody::Assistant(answer) => push_assistant(out, answer, quirks),
        MessageBody::Tool(results) => {
            push_results(out, results, quirks);
            // A tool message takes text only, so pictures follow in a user message.
            if has_pictures(results) {
                push_user(out, &pictures(results), quirks);
            }
        }
    }
}

/// Room for a message beside what it says.
const ROOM: usize = 96;

/// Adds a message of text alone, with a comma before it.
pub(super) fn push_text(out: &mut String, role: &'static str, text: &str) {
    out.reserve(ROOM + text.len() * 9 / 8);
    out.push_str(",{\"role\":\"");
    out.push_str(role);
    out.push_str("\",\"content\":");
    push_string(out, text);
    out.push('}');
}

/// Adds a message of the user, with a comma before it.
pub(super) fn push_user(out: &mut String, parts: &[ContentPart], quirks: &Quirks) {
    if let [ContentPart::Text(text)] = parts {
        return push_text(out, "user", text);
    }
    let parts = parts.iter().filter(|part| !is_blank(part));
    let parts: Vec<Value> = parts.map(|it| part(it, quirks)).collect();
    out.push_str(r#",{"role":"user","content":"#);
    push_value(out, &parts);
    out.push('}');
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

/// Adds an answer, with a comma before it.
pub(super) fn push_assistant(out: &mut String, answer: &AssistantMessage, quirks: &Quirks) {
    let calls = &answer.tool_calls;
    let said = calls.iter().map(|call| ROOM + call.arguments.len() * 5 / 4);
    out.reserve(ROOM + answer.text.len() * 9 / 8 + said.sum::<usize>());
    out.push_str(r#",{"role":"assistant","content":"#);
    match &*answer.text {
        "" if !calls.is_empty() => out.push_str(quirks.no_text),
        _ if !calls.is_empty() && !quirks.text_beside_calls => {
            tracing::debug!("text beside calls, which the provider refuses, is left out");
            out.push_str(quirks.no_text);
        }
        text => push_string(out, text),
    }
    let details = details::of(&answer.opaque).filter(|_| quirks.reasoning_details);
    match (details, quirks.reasoning, &answer.reasoning) {
        (Some(details), _, _) => {
            out.push_str(r#","reasoning_details":"#);
            out.push_str(details.get());
        }
        (None, Some(field), Some(reasoning)) => push_member(out, field, reasoning),
        (None, Some(field), None) => {
            if let Some(none) = quirks.unreasoned {
                push_member(out, field, none);
            }
        }
        _ => {}
    }
    for (place, call) in calls.iter().enumerate() {
        out.push_str(match place {
            0 => r#","tool_calls":["#,
            _ => ",",
        });
        push_call(out, call, place == 0, quirks);
    }
    out.push_str(match calls.is_empty() {
        true => "}",
        false => "]}",
    });
}

/// Adds a member that has others before it.
fn push_member(out: &mut String, key: &str, text: &str) {
    out.push(',');
    push_string(out, key);
    out.push(':');
    push_string(out, text);
}

fn push_call(out: &mut String, call: &ToolCall, is_first: bool, quirks: &Quirks) {
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
    out.push_str(r#"{"id":"#);
    push_string(out, &quirks.call_ids.sent(&call.id));
    out.push_str(r#","type":"function","function":{"name":"#);
    push_string(out, &name);
    out.push_str(r#","arguments":"#);
    push_string(out, &arguments);
    out.push('}');
    for (key, value) in call.extra.iter().filter(|_| quirks.call_fields) {
        if !matches!(&**key, "id" | "type" | "function") {
            out.push(',');
            push_string(out, key);
            out.push(':');
            push_value(out, value);
        }
    }
    let is_signed = !is_first || call.extra.contains_key("extra_content");
    if let Some(signature) = quirks.unsigned.filter(|_| !is_signed) {
        let google = json!({"google": {"thought_signature": signature}});
        out.push_str(r#","extra_content":"#);
        push_value(out, &google);
    }
    out.push('}');
}

/// Adds the results, each a message with a comma before it.
pub(super) fn push_results(out: &mut String, results: &[ToolResult], quirks: &Quirks) {
    for (place, result) in results.iter().enumerate() {
        let text = result.joined_text();
        let content = match &*text {
            "" if has_pictures(std::slice::from_ref(result)) => {
                "The result is in the next user message."
            }
            text => text,
        };
        if place == 0 {
            out.reserve((2 * ROOM + content.len() * 9 / 8) * results.len().min(16));
        }
        out.push_str(r#",{"role":"tool","tool_call_id":"#);
        push_string(out, &quirks.call_ids.sent(&result.call_id));
        out.push_str(r#","content":"#);
        push_string(out, content);
        out.push('}');
    }
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
