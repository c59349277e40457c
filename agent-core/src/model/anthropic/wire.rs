//! Writes a Messages request.
//!
//! A message is written once, as the blocks it is made of, into the text of its history, with roles
//! between them; a request holds that text. The rules of the API are kept here, whatever the history holds:
//! roles take turns and the user begins and ends, system messages stand apart, the results of
//! one answer are in one message, no id comes twice.
//!
//! Rules as in Anthropic's "Messages" and "Tool use" documents and its errors.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::PromptCaching;
use super::body::{Body, Turns};
use super::message::{Server, push, push_blocks, sent_id};
use super::settings::{max_tokens, tail};
use crate::message::{Message, MessageBody, ToolCall};
use crate::model::ChatRequest;
use crate::model::http::{Expect, Piece};
use crate::model::mend::tell_said_by_user;
use crate::schema::{Dialect, DialectSchema};
use crate::tool::ToolDefinition;

/// How many endings of the ids of a group are tried: two that are one with any of them never part.
const MOST_SUFFIXES: usize = 16;

/// How a client asks.
pub(super) struct Asking<'a> {
    pub(super) model: &'a str,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) dialect: Dialect,
    pub(super) caching: PromptCaching,
    pub(super) server: Server,
    /// True if the server can be told to drop thoughts.
    pub(super) drops_thoughts: bool,
    pub(super) expect: Expect,
}

/// The pieces of the request body, in order.
pub(super) fn body(request: &ChatRequest, asking: &Asking<'_>) -> Vec<Piece> {
    let options = request.options();
    let model = options.model_or(asking.model);
    let max_tokens = max_tokens(options, asking);
    let head = format!(
        "{{\"model\":{},\"max_tokens\":{max_tokens}",
        Value::from(model)
    );
    let mut body = Body::new(head, asking.caching.mark());
    let has_tools = !request.tools().definitions().is_empty();
    if has_tools {
        let text = request.tools().wire("anthropic", asking.dialect, tools);
        body.push_marked(text.into(), "]");
    }
    let is_system = |message: &&Message| matches!(message.body(), MessageBody::System(_));
    let system = request.messages().take_while(is_system);
    body.system(system.map(|it| kept(it, asking.server)).collect());
    let transcript = request.transcript();
    let server = asking.server;
    let write = |message: &Message, text: &mut String, said: &mut Said| {
        write(message, text, said, server);
    };
    let (text, turns) = transcript.text(server.key(), write, |text, said: &Said| {
        (Arc::clone(text), said.turns)
    });
    body.messages(&text, turns);
    body.push(tail(request, asking, has_tools));
    body.pieces
}

/// What is known of the messages that were written.
#[derive(Default)]
struct Said {
    turns: Turns,
    /// True after the system messages in front, which stand apart.
    has_begun: bool,
    /// The ids of the calls, as they are sent.
    ids: HashSet<String>,
    /// What tells the calls of a group from others of the same ids, unless it is 0.
    again: usize,
}

impl Said {
    /// False if one of these ids was sent before.
    fn are_new(&mut self, calls: &[ToolCall], suffix: &str) -> bool {
        let sent = calls.iter().map(|call| sent_id(&call.id, suffix));
        // One that stays away from what was sent does no harm.
        let met = sent.filter(|id| !self.ids.insert(id.to_string()));
        met.count() == 0
    }
}

/// Adds one message to the text of those before.
fn write(message: &Message, text: &mut String, said: &mut Said, server: Server) {
    let is_system = matches!(message.body(), MessageBody::System(_));
    said.has_begun |= !is_system;
    if !said.has_begun {
        return;
    }
    if is_system {
        tell_said_by_user(message);
    }
    let calls = message.tool_calls();
    if !calls.is_empty() {
        // The API wants every id of a request once; some servers count from 0 in each answer.
        let mut again = 0;
        let mut tries = 0;
        while !said.are_new(calls, &suffix(again)) && tries < MOST_SUFFIXES {
            again = (said.ids.len() + said.again + 1).max(again + 1);
            tries += 1;
        }
        if again > 0 {
            tracing::debug!(
                again,
                "ids that were sent before are sent with a number behind them"
            );
        }
        said.again = again;
    }
    let is_group = !calls.is_empty() || !message.tool_results().is_empty();
    let is_answer = message.as_assistant().is_some();
    let blocks = |text: &mut String| match said.again {
        again @ 1.. if is_group => push_blocks(text, message, &suffix(again), server),
        _ => message.push_wire(server.key(), text, |message, text| {
            push_blocks(text, message, "", server);
        }),
    };
    said.turns.say(text, is_answer, blocks);
}

/// What stands behind the ids of a group.
fn suffix(again: usize) -> String {
    match again {
        0 => String::new(),
        again => format!("_{again}"),
    }
}

fn kept(message: &Message, server: Server) -> Piece {
    let text = message.wire(server.key(), |message, text| {
        push_blocks(text, message, "", server);
    });
    text.into()
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

fn tools(definitions: &[(&ToolDefinition, &DialectSchema)]) -> String {
    let tools = definitions.iter().filter_map(|(definition, input)| {
        Some(Tool {
            name: definition.name(),
            description: definition.description(),
            input_schema: serde_json::from_str(&input.text).ok()?,
            strict: input.strict,
        })
    });
    let mut out = ",\"tools\":[".to_owned();
    let start = out.len();
    tools.for_each(|tool| push(&mut out, &tool));
    out.replace_range(start..(start + 1).min(out.len()), "");
    out.push(']');
    out
}
