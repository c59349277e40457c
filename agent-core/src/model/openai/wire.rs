//! Writes a chat-completions request.
//!
//! Messages and tools are written once and kept with them; a request is a list of those
//! texts with the options behind it.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::profile::{Forcing, Formats, Quirks};
use super::turns;
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, ToolCall, ToolResult};
use crate::model::http::{Expect, closing, shared};
use crate::model::mend::tool_name;
use crate::model::{ChatOptions, ChatRequest, ResponseFormat, ToolChoice};
use crate::schema::{Dialect, DialectSchema};
use crate::tool::ToolDefinition;

/// How messages are written, and the name under which they keep it.
pub(super) struct Written {
    pub(super) quirks: &'static Quirks,
}

impl Written {
    /// The message as it is sent, with a comma before it; empty if it says nothing.
    pub(super) fn shared(&self, message: &Message) -> Bytes {
        shared(message.wire(self.quirks.name, |message| written(message, self.quirks)))
    }
}

/// The pieces of the request body, in order.
pub(super) fn body(
    request: &ChatRequest,
    model: &str,
    quirks: &'static Quirks,
    dialect: Dialect,
    expect: Expect,
) -> Vec<Bytes> {
    let model = request.options().model.as_deref().unwrap_or(model);
    let mut pieces = vec![Bytes::from(format!(
        "{{\"model\":{},\"messages\":[",
        Value::from(model)
    ))];
    let written = Written { quirks };
    if quirks.takes_turns {
        pieces.extend(turns::pieces(request, &written));
    } else {
        pieces.extend(request.messages().map(|message| written.shared(message)));
    }
    // Each text begins with the comma that parts it from the message before.
    match pieces.iter_mut().skip(1).find(|piece| !piece.is_empty()) {
        Some(first) => *first = first.slice(1..),
        None => pieces.push(Bytes::from_static(&turns::FILLER.as_bytes()[1..])),
    }
    pieces.push(Bytes::from_static(b"]"));
    let tools = request.tools();
    if !tools.definitions().is_empty() {
        pieces.push(shared(tools.wire("openai-chat", dialect, written_tools)));
    }
    pieces.push(Bytes::from(tail(request, quirks, expect)));
    pieces
}

/// True unless a message is blank; some servers refuse those.
pub(super) fn says_something(message: &Message) -> bool {
    let is_blank = |part: &ContentPart| part.as_text().is_some_and(|text| text.trim().is_empty());
    match message.body() {
        MessageBody::System(text) => !text.trim().is_empty(),
        MessageBody::User(parts) => !parts.iter().all(is_blank),
        MessageBody::Assistant(answer) => {
            !answer.text.trim().is_empty() || !answer.tool_calls.is_empty()
        }
        MessageBody::Tool(_) => true,
    }
}

/// The messages of the wire that one message of ours becomes, each with a comma before it.
fn written(message: &Message, quirks: &Quirks) -> String {
    let mut out = String::new();
    if !says_something(message) {
        return out;
    }
    match message.body() {
        MessageBody::System(text) => push(&mut out, &json!({"role": "system", "content": text})),
        MessageBody::User(parts) => push(&mut out, &user(parts)),
        MessageBody::Assistant(answer) => push(&mut out, &assistant(answer, quirks)),
        MessageBody::Tool(results) => {
            out = tool_results(results, quirks);
            // A tool message takes text only, so pictures follow in a user message.
            let pictures = pictures(results);
            if !pictures.is_empty() {
                push(&mut out, &user(&pictures));
            }
        }
    }
    out
}

fn push(out: &mut String, message: &Value) {
    out.push(',');
    out.push_str(&message.to_string());
}

pub(super) fn user(parts: &[ContentPart]) -> Value {
    match parts {
        [ContentPart::Text(text)] => json!({"role": "user", "content": text}),
        parts => {
            let parts: Vec<Value> = parts.iter().map(part).collect();
            json!({"role": "user", "content": parts})
        }
    }
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({"type": "text", "text": text}),
        ContentPart::Image(image) => {
            let url = format!("data:{};base64,{}", image.media_type(), image.base64());
            json!({"type": "image_url", "image_url": {"url": url}})
        }
    }
}

pub(super) fn assistant(answer: &AssistantMessage, quirks: &Quirks) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let calls: Vec<Value> = answer
        .tool_calls
        .iter()
        .map(|it| call(it, quirks))
        .collect();
    let content = match &*answer.text {
        // What the official clients send back; some servers refuse calls beside "".
        "" if !calls.is_empty() => Value::Null,
        text => text.into(),
    };
    message.insert("content".into(), content);
    if let (Some(field), Some(reasoning)) = (quirks.reasoning, &answer.reasoning) {
        message.insert(field.into(), reasoning.as_str().into());
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    message.into()
}

fn call(call: &ToolCall, quirks: &Quirks) -> Value {
    // A server that reads the arguments takes an object only; the model sees what it wrote.
    let arguments = match call.invalid {
        None => Cow::Borrowed(&*call.arguments),
        Some(_) => json!({"invalid_arguments": call.arguments})
            .to_string()
            .into(),
    };
    let mut written = Map::new();
    written.insert("id".into(), quirks.call_ids.sent(&call.id).into());
    written.insert("type".into(), "function".into());
    let name = match quirks.names {
        Some(most) => tool_name(&call.name, most),
        None if call.name.is_empty() => tool_name("", 1),
        None => Cow::Borrowed(&*call.name),
    };
    let function = json!({"name": name, "arguments": arguments});
    written.insert("function".into(), function);
    for (key, value) in &call.extra {
        written.entry(key).or_insert_with(|| value.clone());
    }
    written.into()
}

/// The results, each a message with a comma before it.
pub(super) fn tool_results(results: &[ToolResult], quirks: &Quirks) -> String {
    let mut out = String::new();
    for result in results {
        push(&mut out, &tool_result(result, quirks));
    }
    out
}

fn tool_result(result: &ToolResult, quirks: &Quirks) -> Value {
    let text = result.text();
    let has_pictures = result.content.iter().any(|part| part.as_text().is_none());
    let content = match &*text {
        "" if has_pictures => "The result is in the next user message.",
        text => text,
    };
    let id = quirks.call_ids.sent(&result.call_id);
    json!({"role": "tool", "tool_call_id": id, "content": content})
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

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a RawValue,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

fn written_tools(definitions: &[(&ToolDefinition, &DialectSchema)]) -> String {
    let tools: Vec<Tool<'_>> = definitions
        .iter()
        .filter_map(|(definition, input)| {
            Some(Tool {
                r#type: "function",
                function: Function {
                    name: definition.name(),
                    description: definition.description(),
                    parameters: serde_json::from_str(&input.text).ok()?,
                    strict: input.strict,
                },
            })
        })
        .collect();
    let tools = serde_json::to_string(&tools).unwrap_or_else(|_| "[]".to_owned());
    format!(",\"tools\":{tools}")
}

/// Everything behind the tools, up to the closing brace.
fn tail(request: &ChatRequest, quirks: &Quirks, expect: Expect) -> String {
    let options = request.options();
    let mut fields = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            fields.insert(key.to_owned(), value);
        }
    };
    set("temperature", options.temperature.map(Value::from));
    set("top_p", options.top_p.map(Value::from));
    set(
        quirks.token_limit,
        options.max_output_tokens.map(Value::from),
    );
    set("stop", options.stop.clone().map(Value::from));
    if let Some(field) = quirks.seed {
        set(field, options.seed.map(Value::from));
    }
    let tools = request.tools().definitions();
    if !tools.is_empty() {
        // Without tools, providers refuse both.
        let choice = options.tool_choice.as_ref();
        set(
            "tool_choice",
            choice.and_then(|choice| tool_choice(choice, tools, quirks)),
        );
        let parallel = options.parallel_tool_calls.filter(|_| quirks.parallel);
        set("parallel_tool_calls", parallel.map(Value::from));
    }
    let format = request.response_format();
    set(
        "response_format",
        format.and_then(|format| response_format(format, quirks)),
    );
    if expect == Expect::EventStream {
        set("stream", Some(true.into()));
        let asked = quirks
            .stream_options
            .then(|| json!({"include_usage": true}));
        set("stream_options", asked);
    }
    for (key, value) in &options.extra {
        if !matches!(&**key, "model" | "messages" | "tools" | "stream") {
            fields.insert(key.clone(), value.clone());
        }
    }
    closing(fields)
}

/// The settings that this server has not.
pub(super) fn unsupported(options: &ChatOptions, quirks: &Quirks) -> Vec<&'static str> {
    let forced = match (&options.tool_choice, quirks.forcing) {
        (Some(ToolChoice::Required), forcing) => {
            matches!(forcing, Forcing::Named | Forcing::Nothing)
        }
        (Some(ToolChoice::Named(_)), forcing) => {
            matches!(forcing, Forcing::Required | Forcing::Nothing)
        }
        _ => false,
    };
    let settings = [
        ("seed", options.seed.is_some() && quirks.seed.is_none()),
        ("tool_choice", forced),
        (
            "parallel_tool_calls",
            options.parallel_tool_calls.is_some() && !quirks.parallel,
        ),
    ];
    let missing = settings.into_iter().filter(|(_, is_missing)| *is_missing);
    missing.map(|(name, _)| name).collect()
}

fn response_format(format: &ResponseFormat, quirks: &Quirks) -> Option<Value> {
    let ResponseFormat::JsonSchema(output) = format else {
        return Some(json!({"type": "json_object"}));
    };
    if quirks.formats == Formats::Object {
        return None;
    }
    let dialect = match quirks.has_limits {
        true => Dialect::OpenAiStrict,
        false => quirks.dialect,
    };
    let written = output.in_dialect(dialect);
    let mut schema = json!({"name": output.name(), "schema": written.schema});
    if !output.description().is_empty() {
        schema["description"] = output.description().into();
    }
    if written.strict {
        schema["strict"] = true.into();
    }
    Some(json!({"type": "json_schema", "json_schema": schema}))
}

/// What comes closest among what the server heeds.
fn tool_choice(choice: &ToolChoice, tools: &[ToolDefinition], quirks: &Quirks) -> Option<Value> {
    let named = |name: &str| json!({"type": "function", "function": {"name": name}});
    let value = match (choice, quirks.forcing) {
        (ToolChoice::Auto, _) => "auto".into(),
        (ToolChoice::None, _) => "none".into(),
        (_, Forcing::Nothing) => return None,
        (ToolChoice::Required, Forcing::Named) => match tools {
            [only] => named(only.name()),
            _ => return None,
        },
        (ToolChoice::Named(_), Forcing::Required) | (ToolChoice::Required, _) => "required".into(),
        (ToolChoice::Named(name), _) => named(name),
    };
    Some(value)
}
