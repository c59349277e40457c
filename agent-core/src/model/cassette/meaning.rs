//! What a request means, as JSON: what two requests share that are to have one reply.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::message::{ContentPart, Message, MessageBody, ToolCall, ToolResult};
use crate::model::{ChatOptions, ChatRequest, ResponseFormat, ToolChoice};
use crate::tool::ToolDefinition;

/// The request without what differs from run to run: calls are numbered as they come, tools
/// stand by name, and arguments are values.
pub(super) fn meaning(request: &ChatRequest) -> Value {
    let mut calls = Calls::default();
    let messages: Vec<Value> = request.messages().map(|it| calls.message(it)).collect();
    let mut tools: Vec<&ToolDefinition> = request.tools().definitions().iter().collect();
    tools.sort_by_key(|tool| tool.name());
    let tools: Vec<Value> = tools.into_iter().map(tool).collect();
    let parts = [
        ("messages", messages.into()),
        ("tools", tools.into()),
        ("options", options(request.options())),
        (
            "response_format",
            request.response_format().map_or(json!({}), format),
        ),
    ];
    let is_there = |(_, value): &(&str, Value)| match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    };
    let parts = parts.into_iter().filter(is_there);
    parts.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The numbers of the calls so far, by their ids.
#[derive(Default)]
struct Calls {
    numbers: HashMap<String, usize>,
}

impl Calls {
    fn number(&mut self, id: &str) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(id.to_owned()).or_insert(next)
    }

    fn message(&mut self, message: &Message) -> Value {
        match message.body() {
            MessageBody::System(text) => json!({"role": "system", "text": text}),
            MessageBody::User(parts) => json!({"role": "user", "content": content(parts)}),
            MessageBody::Assistant(answer) => {
                let mut members = Map::new();
                members.insert("role".to_owned(), "assistant".into());
                members.insert("text".to_owned(), answer.text.as_str().into());
                if let Some(reasoning) = &answer.reasoning {
                    members.insert("reasoning".to_owned(), reasoning.as_str().into());
                }
                if !answer.opaque.is_empty() {
                    let parts = answer.opaque.iter();
                    let parts =
                        parts.map(|part| json!({"provider": part.provider, "json": part.json}));
                    members.insert("opaque".to_owned(), parts.collect());
                }
                if !answer.tool_calls.is_empty() {
                    let calls = answer.tool_calls.iter().map(|call| self.call(call));
                    members.insert("tool_calls".to_owned(), calls.collect());
                }
                members.into()
            }
            MessageBody::Tool(results) => {
                let results: Vec<Value> = results.iter().map(|it| self.result(it)).collect();
                json!({"role": "tool", "results": results})
            }
        }
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let as_written = || call.arguments.as_str().into();
        json!({
            "call": self.number(&call.id),
            "name": call.name,
            "arguments": call.arguments_value().unwrap_or_else(as_written),
        })
    }

    fn result(&mut self, result: &ToolResult) -> Value {
        json!({
            "call": self.number(&result.call_id),
            "content": content(&result.content),
            "is_error": result.is_error,
        })
    }
}

/// One text stands for itself.
fn content(parts: &[ContentPart]) -> Value {
    match parts {
        [ContentPart::Text(text)] => text.as_str().into(),
        _ => parts.iter().map(part).collect(),
    }
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({"text": text}),
        ContentPart::Image(image) => {
            json!({"image": image.media_type(), "data": image.base64()})
        }
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "name": tool.name(),
        "description": tool.description(),
        "input": tool.input_schema().value(),
    })
}

fn format(format: &ResponseFormat) -> Value {
    match format {
        ResponseFormat::JsonObject => json!({"type": "json_object"}),
        ResponseFormat::JsonSchema(output) => {
            json!({"name": output.name(), "schema": output.schema()})
        }
    }
}

fn options(options: &ChatOptions) -> Value {
    let ChatOptions {
        model,
        temperature,
        top_p,
        max_output_tokens,
        stop,
        seed,
        tool_choice,
        parallel_tool_calls,
        extra,
    } = options;
    let set = [
        ("model", json!(model)),
        ("temperature", json!(temperature)),
        ("top_p", json!(top_p)),
        ("max_output_tokens", json!(max_output_tokens)),
        ("stop", json!(stop)),
        ("seed", json!(seed)),
        ("tool_choice", json!(tool_choice.as_ref().map(choice))),
        ("parallel_tool_calls", json!(parallel_tool_calls)),
    ];
    let set = set.into_iter().filter(|(_, value)| !value.is_null());
    let set = set.map(|(key, value)| (key.to_owned(), value));
    let mut members: Map<String, Value> = set.collect();
    if !extra.is_empty() {
        members.insert("extra".to_owned(), extra.clone().into());
    }
    members.into()
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Named(name) => json!({"tool": name}),
    }
}
