//! Writes messages as the blocks of the Messages API, each with a comma before it. No text is empty,
//! as the API refuses one.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::PROVIDER;
use crate::message::{
    AssistantMessage, ContentPart, Message, MessageBody, OpaquePart, ToolCall, ToolResult,
};
use crate::model::mend::{
    CallIds, in_place_of_picture, in_words, picture_type, tell_left_out, tool_name,
};
use crate::model::reading::json::Json;
use crate::model::writing::{push_string, push_value};

/// What an id must be like: `^[a-zA-Z0-9_-]+$`.
const CALL_IDS: CallIds = CallIds::Words(64);

/// Most characters of a tool's name.
const MAX_NAME: usize = 128;

/// The maker of what a server of another model says that is neither text nor a call.
const COMPATIBLE: &str = "anthropic-compatible";

/// The maker of such parts. Only a Claude signs what a Claude takes: "Invalid `signature` in
/// `thinking` block" is said after a change from another,
/// <https://github.com/ding113/claude-code-hub/issues/518>.
pub(super) fn maker(is_foreign: bool) -> &'static str {
    match is_foreign {
        true => COMPATIBLE,
        false => PROVIDER,
    }
}

/// Who is asked: what Anthropic refuses, others want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    Anthropic,
    Other,
}

impl Server {
    /// The name under which the text for it is kept.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Anthropic => PROVIDER,
            Self::Other => COMPATIBLE,
        }
    }

    /// True if the part was made by one that speaks this API, and the server would not refuse it.
    /// Others than Anthropic sign no thoughts and want them back:
    /// "The `content[].thinking` in the thinking mode must be passed back to the API.",
    /// <https://github.com/can1357/oh-my-pi/pull/908>
    pub(super) fn takes(self, part: &OpaquePart) -> bool {
        let is_unsigned =
            || field(part, "type") == "thinking" && field(part, "signature").is_empty();
        match &*part.provider {
            PROVIDER => self == Self::Other || !is_unsigned(),
            COMPATIBLE => self == Self::Other,
            _ => false,
        }
    }
}

/// The text under a name of a block; empty if there is none.
fn field<'a>(part: &'a OpaquePart, name: &str) -> Cow<'a, str> {
    let found = Json::new(&part.json).member(name, Json::text);
    found.ok().flatten().unwrap_or_default()
}

/// True for a block of thoughts, be they readable or not.
pub(super) fn is_thought(part: &OpaquePart) -> bool {
    matches!(&*field(part, "type"), "thinking" | "redacted_thinking")
}

/// Adds the blocks that a message becomes, each with a comma before it.
pub(super) fn push_blocks(out: &mut String, message: &Message, suffix: &str, server: Server) {
    let before = out.len();
    match message.body() {
        MessageBody::System(text) => write_text(out, text),
        MessageBody::User(parts) => {
            for part in parts {
                match part {
                    ContentPart::Text(text) => write_text(out, text),
                    part => push(out, &block(part)),
                }
            }
        }
        MessageBody::Assistant(answer) => assistant(out, answer, suffix, server),
        MessageBody::Tool(results) => {
            for result in results {
                tool_result(out, result, suffix);
            }
        }
    }
    if out.len() == before {
        tell_left_out(message);
    }
}

pub(super) fn push(out: &mut String, block: &impl Serialize) {
    if let Ok(json) = serde_json::to_string(block) {
        out.push(',');
        out.push_str(&json);
    }
}

/// A text of blanks alone is refused.
fn write_text(out: &mut String, text: &str) {
    if !text.trim().is_empty() {
        out.push_str(r#",{"type":"text","text":"#);
        push_string(out, text);
        out.push('}');
    }
}

fn block(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({"type": "text", "text": text}),
        ContentPart::Image(image) => {
            let kind = picture_type(image);
            match in_place_of_picture(&kind) {
                Some(text) => json!({"type": "text", "text": text}),
                None => json!({
                    "type": "image",
                    "source": {"type": "base64", "media_type": kind, "data": image.base64()},
                }),
            }
        }
    }
}

fn assistant(out: &mut String, answer: &AssistantMessage, suffix: &str, server: Server) {
    let (mut text, mut calls) = (&*answer.text, &*answer.tool_calls);
    let own = |part: &&OpaquePart| server.takes(part) && is_json(&part.json);
    for part in answer.opaque.iter().filter(own) {
        let said = answer.text.len() - text.len();
        let (before, after) = text.split_at(boundary(text, part.after_text.saturating_sub(said)));
        let asked = answer.tool_calls.len() - calls.len();
        let count = part.after_calls.saturating_sub(asked).min(calls.len());
        write_text(out, before);
        calls[..count]
            .iter()
            .for_each(|call| tool_use(out, call, suffix));
        (text, calls) = (after, &calls[count..]);
        // An answer cannot end with its thinking.
        let is_last = text.trim().is_empty() && calls.is_empty();
        if !(is_last && is_thought(part)) {
            out.push(',');
            out.push_str(&part.json);
        }
    }
    write_text(out, text);
    calls.iter().for_each(|call| tool_use(out, call, suffix));
}

/// The largest place up to `at` where a text can be cut.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

pub(super) fn sent_id<'a>(id: &'a str, suffix: &str) -> Cow<'a, str> {
    match suffix {
        "" => CALL_IDS.sent(id),
        suffix => CALL_IDS.sent(&format!("{id}{suffix}")).into_owned().into(),
    }
}

fn tool_use(out: &mut String, call: &ToolCall, suffix: &str) {
    out.push_str(r#",{"type":"tool_use","id":"#);
    push_string(out, &sent_id(&call.id, suffix));
    out.push_str(r#","name":"#);
    push_string(out, &tool_name(&call.name, MAX_NAME));
    out.push_str(r#","input":"#);
    match call.invalid {
        None if is_json(&call.arguments) => out.push_str(call.arguments.trim()),
        None => out.push_str("null"),
        // The model sees what it wrote, in an object, as the API takes no other.
        Some(_) => {
            out.push_str(r#"{"invalid_arguments":"#);
            push_string(out, &call.arguments);
            out.push('}');
        }
    }
    out.push('}');
}

/// False for a text that was changed by hand into what would spoil the request.
fn is_json(text: &str) -> bool {
    let mut json = Json::new(text);
    json.skip().and_then(|()| json.end()).is_ok()
}

fn tool_result(out: &mut String, result: &ToolResult, suffix: &str) {
    let is_blank = |part: &ContentPart| part.as_text().is_some_and(|text| text.trim().is_empty());
    let parts = || result.content.iter().filter(|part| !is_blank(part));
    out.push_str(r#",{"type":"tool_result","tool_use_id":"#);
    push_string(out, &sent_id(&result.call_id, suffix));
    out.push_str(r#","content":"#);
    let is_text = parts().all(|part| part.as_text().is_some());
    // "all content must be type 'text' if 'is_error' is true":
    // https://github.com/vellum-ai/vellum-assistant/pull/18387
    let shown = |part: &ContentPart| match part {
        ContentPart::Image(image) if result.is_error => {
            json!({"type": "text", "text": in_words(&picture_type(image))})
        }
        part => block(part),
    };
    if is_text {
        push_string(
            out,
            match &*result.joined_text() {
                text if text.trim().is_empty() => "(no output)",
                text => text,
            },
        );
    } else {
        push_value(out, &parts().map(shown).collect::<Value>());
    }
    out.push_str(match result.is_error {
        true => r#","is_error":true}"#,
        false => "}",
    });
}
