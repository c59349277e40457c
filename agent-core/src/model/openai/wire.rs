//! Writes a chat-completions request.
//!
//! Messages and tools are written once and kept with them; a request is a list of those
//! texts with the options behind it.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Profile;
use crate::message::{AssistantMessage, ContentPart, Message, MessageBody, ToolCall, ToolResult};
use crate::model::http::{Expect, shared};
use crate::model::{ChatRequest, ResponseFormat, ToolChoice};
use crate::schema::{Dialect, DialectSchema};
use crate::tool::ToolDefinition;

/// The pieces of the request body, in order.
pub(super) fn body(
    request: &ChatRequest,
    model: &str,
    profile: Profile,
    dialect: Dialect,
    expect: Expect,
) -> Vec<Bytes> {
    let options = request.options();
    let model = options.model.as_deref().unwrap_or(model);
    let mut pieces = vec![Bytes::from(format!(
        "{{\"model\":{},\"messages\":[",
        Value::from(model)
    ))];
    for message in request.messages() {
        let text = message.wire(profile.wire(), |message| written(message, profile));
        let text = shared(text);
        // Each text begins with the comma that parts it from the message before.
        let first = pieces.len() == 1;
        pieces.push(if first && !text.is_empty() {
            text.slice(1..)
        } else {
            text
        });
    }
    pieces.push(Bytes::from_static(b"]"));
    let has_tools = !request.tools().definitions().is_empty();
    if has_tools {
        pieces.push(shared(request.tools().wire("openai-chat", dialect, tools)));
    }
    pieces.push(Bytes::from(tail(request, profile, has_tools, expect)));
    pieces
}

/// The messages of the wire that one message of ours becomes, each with a comma before it.
fn written(message: &Message, profile: Profile) -> String {
    let mut out = String::new();
    match message.body() {
        MessageBody::System(text) => push(&mut out, &json!({"role": "system", "content": text})),
        MessageBody::User(parts) => push(&mut out, &user(parts)),
        MessageBody::Assistant(answer) => push(&mut out, &assistant(answer, profile)),
        MessageBody::Tool(results) => {
            for result in results {
                push(&mut out, &tool_result(result));
            }
            // A tool message takes text only, so pictures follow in a user message.
            let pictures = pictures(results);
            if !pictures.is_empty() {
                push(&mut out, &json!({"role": "user", "content": pictures}));
            }
        }
    }
    out
}

fn push(out: &mut String, message: &Value) {
    out.push(',');
    out.push_str(&message.to_string());
}

fn user(parts: &[ContentPart]) -> Value {
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

fn assistant(answer: &AssistantMessage, profile: Profile) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let calls: Vec<Value> = answer.tool_calls.iter().map(call).collect();
    let content = match &*answer.text {
        // What the official clients send back; some servers refuse calls beside "".
        "" if !calls.is_empty() => Value::Null,
        text => text.into(),
    };
    message.insert("content".into(), content);
    if let (true, Some(reasoning)) = (profile.echoes_reasoning(), &answer.reasoning) {
        message.insert("reasoning_content".into(), reasoning.as_str().into());
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    message.into()
}

fn call(call: &ToolCall) -> Value {
    // A server that reads the arguments takes an object only; the model sees what it wrote.
    let arguments = match call.invalid {
        None => Cow::Borrowed(&*call.arguments),
        Some(_) => json!({"invalid_arguments": call.arguments})
            .to_string()
            .into(),
    };
    let mut written = Map::new();
    written.insert("id".into(), call.id.as_str().into());
    written.insert("type".into(), "function".into());
    let function = json!({"name": call.name, "arguments": arguments});
    written.insert("function".into(), function);
    for (key, value) in &call.extra {
        written.entry(key).or_insert_with(|| value.clone());
    }
    written.into()
}

fn tool_result(result: &ToolResult) -> Value {
    let text = result.text();
    let has_pictures = result.content.iter().any(|part| part.as_text().is_none());
    let content = match &*text {
        "" if has_pictures => "The result is in the next user message.",
        text => text,
    };
    json!({"role": "tool", "tool_call_id": result.call_id, "content": content})
}

fn pictures(results: &[ToolResult]) -> Vec<Value> {
    let mut parts = Vec::new();
    for result in results {
        let pictures = result
            .content
            .iter()
            .filter(|part| part.as_text().is_none());
        let mut pictures = pictures.map(part).peekable();
        if pictures.peek().is_some() {
            let text = format!("From tool `{}`, call `{}`:", result.name, result.call_id);
            parts.push(json!({"type": "text", "text": text}));
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

fn tools(definitions: &[(&ToolDefinition, &DialectSchema)]) -> String {
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
fn tail(request: &ChatRequest, profile: Profile, has_tools: bool, expect: Expect) -> String {
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
        profile.token_limit(),
        options.max_output_tokens.map(Value::from),
    );
    set("stop", options.stop.clone().map(Value::from));
    set("seed", options.seed.map(Value::from));
    if has_tools {
        // Without tools, providers refuse both.
        set("tool_choice", options.tool_choice.as_ref().map(tool_choice));
        set(
            "parallel_tool_calls",
            options.parallel_tool_calls.map(Value::from),
        );
    }
    set(
        "response_format",
        request.response_format().map(response_format),
    );
    if expect == Expect::EventStream {
        set("stream", Some(true.into()));
        set("stream_options", Some(json!({"include_usage": true})));
    }
    for (key, value) in &options.extra {
        if !matches!(&**key, "model" | "messages" | "tools" | "stream") {
            fields.insert(key.clone(), value.clone());
        }
    }
    let text = Value::from(fields).to_string();
    match &*text {
        "{}" => text[1..].to_owned(),
        text => format!(",{}", &text[1..]),
    }
}

fn response_format(format: &ResponseFormat) -> Value {
    let ResponseFormat::JsonSchema(output) = format else {
        return json!({"type": "json_object"});
    };
    let written = output.in_dialect(Dialect::OpenAiStrict);
    let mut schema = json!({"name": output.name(), "schema": written.schema});
    if !output.description().is_empty() {
        schema["description"] = output.description().into();
    }
    if written.strict {
        schema["strict"] = true.into();
    }
    json!({"type": "json_schema", "json_schema": schema})
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}
