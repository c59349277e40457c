//! Writes a Messages request.
//!
//! A message is written once, as the blocks it is made of, into the text of its history, with roles
//! between them; a request holds that text. The rules of the API are kept here, whatever the history holds:
//! roles take turns and the user begins and ends, system messages stand apart, the results of
//! one answer are in one message, no text is empty.
//!
//! Rules as in Anthropic's "Messages" and "Tool use" documents and its errors.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::body::{Body, Turns};
use super::{PROVIDER, PromptCaching};
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, ToolCall, ToolResult};
use crate::model::http::{Expect, Piece, closing};
use crate::model::mend::{CallIds, in_place_of_picture, in_words, picture_type, tool_name};
use crate::model::reading::json::Json;
use crate::model::writing::{push_string, push_value};
use crate::model::{ChatOptions, ChatRequest, ResponseFormat, ToolChoice};
use crate::schema::{Dialect, DialectSchema};
use crate::tool::ToolDefinition;

/// What an id must be like: `^[a-zA-Z0-9_-]+$`.
const CALL_IDS: CallIds = CallIds::Words(64);

/// How many endings of the ids of a group are tried: two that are one with any of them never part.
const MOST_SUFFIXES: usize = 16;

/// Most characters of a tool's name.
const MAX_NAME: usize = 128;

/// How a client asks.
pub(super) struct Asking<'a> {
    pub(super) model: &'a str,
    pub(super) max_output_tokens: u32,
    pub(super) dialect: Dialect,
    pub(super) caching: PromptCaching,
    pub(super) expect: Expect,
}

/// The pieces of the request body, in order.
pub(super) fn body(request: &ChatRequest, asking: &Asking<'_>) -> Vec<Piece> {
    let options = request.options();
    let model = options.model.as_deref().unwrap_or(asking.model);
    let max_tokens = max_tokens(options, asking.max_output_tokens);
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
    body.system(request.messages().take_while(is_system).map(kept).collect());
    let transcript = request.transcript();
    let (text, turns) = transcript.text(PROVIDER, write, |text, said: &Said| {
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
fn write(message: &Message, text: &mut String, said: &mut Said) {
    said.has_begun |= !matches!(message.body(), MessageBody::System(_));
    if !said.has_begun {
        return;
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
        said.again = again;
    }
    let is_group = !calls.is_empty() || !message.tool_results().is_empty();
    let is_answer = message.as_assistant().is_some();
    let blocks = |text: &mut String| match said.again {
        again @ 1.. if is_group => push_blocks(text, message, &suffix(again)),
        _ => message.push_wire(PROVIDER, text, |message, text| {
            push_blocks(text, message, "");
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

fn kept(message: &Message) -> Piece {
    let text = message.wire(PROVIDER, |message, text| push_blocks(text, message, ""));
    text.into()
}

/// Adds the blocks that a message becomes, each with a comma before it.
fn push_blocks(out: &mut String, message: &Message, suffix: &str) {
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
        MessageBody::Assistant(answer) => assistant(out, answer, suffix),
        MessageBody::Tool(results) => {
            for result in results {
                tool_result(out, result, suffix);
            }
        }
    }
}

fn push(out: &mut String, block: &impl Serialize) {
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

fn assistant(out: &mut String, answer: &AssistantMessage, suffix: &str) {
    let (mut text, mut calls) = (&*answer.text, &*answer.tool_calls);
    let own = |part: &&crate::message::OpaquePart| part.provider == PROVIDER;
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
        if !(is_last && part.json.contains("thinking\"")) {
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

fn sent_id<'a>(id: &'a str, suffix: &str) -> Cow<'a, str> {
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

/// False for arguments that were changed by hand into what would spoil the request.
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

/// Everything behind the messages, up to the closing brace.
fn tail(request: &ChatRequest, asking: &Asking<'_>, has_tools: bool) -> Piece {
    let options = request.options();
    let mut fields = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        // A number that is none would be written as null, which no server takes.
        if let Some(value) = value.filter(|value| !value.is_null()) {
            fields.insert(key.to_owned(), value);
        }
    };
    let thinks = thinks(options);
    let temperature = options.temperature.filter(|_| !thinks);
    set("temperature", temperature.map(Value::from));
    let top_p = options.top_p.filter(|_| takes_top_p(options, asking.model));
    set("top_p", top_p.map(Value::from));
    let stop = options.stop.iter().flatten();
    let stop: Vec<&String> = stop.filter(|text| !text.trim().is_empty()).collect();
    set(
        "stop_sequences",
        Some(stop)
            .filter(|stop| !stop.is_empty())
            .map(|stop| json!(stop)),
    );
    if has_tools {
        let one = options.parallel_tool_calls == Some(false);
        let choice = options.tool_choice.as_ref();
        let choice = choice.filter(|choice| !(thinks && forces(choice)));
        set("tool_choice", tool_choice(choice, one));
    }
    if let Some(ResponseFormat::JsonSchema(output)) = request.response_format() {
        let schema = &output.in_dialect(Dialect::AnthropicStrict).schema;
        let format = json!({"format": {"type": "json_schema", "schema": schema}});
        set("output_config", Some(format));
    }
    if asking.expect == Expect::EventStream {
        set("stream", Some(true.into()));
    }
    let ours = [
        "model",
        "messages",
        "system",
        "tools",
        "stream",
        "max_tokens",
    ];
    for (key, value) in &options.extra {
        match (fields.get_mut(key), value) {
            _ if ours.contains(&&**key) => {}
            // How hard it tries stands beside the form of the answer.
            (Some(Value::Object(set)), Value::Object(more)) => set.extend(more.clone()),
            _ => drop(fields.insert(key.clone(), value.clone())),
        }
    }
    let must_think = options.extra.get("thinking").map(|it| &it["type"]) == Some(&json!("enabled"));
    if must_think && goes_on_unthought(request) {
        tracing::debug!("another model began this turn, so it is ended without thinking");
        fields.remove("thinking");
    }
    closing(fields)
}

/// True if the last answer waits for its results and does not begin with thinking, as that of
/// another provider: a request that must think is refused then.
fn goes_on_unthought(request: &ChatRequest) -> bool {
    let mut has_results = false;
    for message in request.messages().rev() {
        if let Some(answer) = message.as_assistant() {
            let first = answer.opaque.iter().find(|part| part.provider == PROVIDER);
            let begins = first.is_some_and(|part| {
                (part.after_text, part.after_calls) == (0, 0) && part.json.contains("thinking\"")
            });
            return has_results && !begins;
        }
        has_results |= !message.tool_results().is_empty();
    }
    false
}

/// True if the model is to think before it answers.
fn thinks(options: &ChatOptions) -> bool {
    let thinking = options.extra.get("thinking");
    thinking.is_some_and(|it| it.is_object() && it["type"] != "disabled")
}

/// The most tokens of an answer, thoughts among them. Where nobody named a number, ours makes room
/// for the thoughts: "`max_tokens` must be greater than `thinking.budget_tokens`".
fn max_tokens(options: &ChatOptions, ours: u32) -> u64 {
    let thinking = options.extra.get("thinking");
    let budget = thinking.and_then(|it| it["budget_tokens"].as_u64());
    let budget = budget.unwrap_or_default();
    match options.max_output_tokens {
        Some(tokens) => tokens.into(),
        None if budget >= u64::from(ours) => budget.saturating_add(ours.into()),
        None => ours.into(),
    }
}

/// False beside what a model does not take it with.
///
/// "`temperature` and `top_p` cannot both be specified for this model. Please use only one.":
/// <https://github.com/BerriAI/litellm/issues/15097>. "When thinking is enabled, you can set
/// `top_p` to values between 1 and 0.95":
/// <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>.
fn takes_top_p(options: &ChatOptions, model: &str) -> bool {
    let model = options.model.as_deref().unwrap_or(model);
    if !model.to_ascii_lowercase().contains("claude") {
        return true;
    }
    match thinks(options) {
        true => options.top_p.is_none_or(|top_p| top_p >= 0.95),
        false => options.temperature.is_none(),
    }
}

fn forces(choice: &ToolChoice) -> bool {
    matches!(choice, ToolChoice::Required | ToolChoice::Named(_))
}

/// The settings that the provider has not, or not beside others of these.
///
/// "Thinking isn't compatible with temperature or top_k modifications as well as forced tool
/// use": <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>, "Feature
/// compatibility".
pub(super) fn unsupported(options: &ChatOptions, model: &str) -> Vec<&'static str> {
    let forced = options.tool_choice.as_ref().is_some_and(forces);
    let mut stops = options.stop.iter().flatten();
    let settings = [
        ("seed", options.seed.is_some()),
        ("stop", stops.any(|text| text.trim().is_empty())),
        ("tool_choice", forced && thinks(options)),
        (
            "temperature",
            options.temperature.is_some() && thinks(options),
        ),
        (
            "top_p",
            options.top_p.is_some() && !takes_top_p(options, model),
        ),
    ];
    let missing = settings.into_iter().filter(|(_, is_missing)| *is_missing);
    let missing = missing.map(|(name, _)| name);
    missing.chain(options.not_numbers()).collect()
}

fn tool_choice(choice: Option<&ToolChoice>, one: bool) -> Option<Value> {
    let mut written = match choice {
        None if !one => return None,
        None | Some(ToolChoice::Auto) => json!({"type": "auto"}),
        Some(ToolChoice::None) => return Some(json!({"type": "none"})),
        Some(ToolChoice::Required) => json!({"type": "any"}),
        Some(ToolChoice::Named(name)) => json!({"type": "tool", "name": name}),
    };
    if one {
        written["disable_parallel_tool_use"] = true.into();
    }
    Some(written)
}
