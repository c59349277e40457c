//! Messages as the OpenTelemetry conventions write them into a span: `{role, parts}`.

use serde_json::{Value, json};

use crate::message::{ContentPart, Message, MessageBody, ToolCall};

/// The messages as one JSON text.
pub(crate) fn messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    let messages = messages.into_iter().map(|message| {
        let (role, parts) = match message.body() {
            MessageBody::System(text) => ("system", vec![said(text)]),
            MessageBody::User(content) => ("user", content.iter().map(part).collect()),
            MessageBody::Assistant(answer) => {
                let reasoning = answer.reasoning.iter();
                let reasoning = reasoning.map(|text| json!({"type": "reasoning", "content": text}));
                let text = Some(&answer.text).filter(|text| !text.is_empty());
                let text = text.map(|text| said(text));
                let calls = answer.tool_calls.iter().map(called);
                ("assistant", reasoning.chain(text).chain(calls).collect())
            }
            MessageBody::Tool(results) => {
                let answered = results.iter().map(|result| {
                    json!({
                        "type": "tool_call_response",
                        "id": result.call_id,
                        "response": result.text(),
                    })
                });
                ("tool", answered.collect::<Vec<_>>())
            }
        };
        json!({"role": role, "parts": parts})
    });
    Value::Array(messages.collect()).to_string()
}

fn said(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => said(text),
        ContentPart::Image(image) => json!({
            "type": "blob",
            "modality": "image",
            "mime_type": image.media_type(),
            "content": image.base64(),
        }),
    }
}

fn called(call: &ToolCall) -> Value {
    let raw = || Value::String(call.arguments.to_string());
    json!({
        "type": "tool_call",
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments_value().unwrap_or_else(raw),
    })
}
