//! Messages, calls and results as format 1 writes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::boxed::BoxError;
use crate::message::{self, AssistantMessage, ContentPart, MessageBody, MessageId};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    id: String,
    says: Body,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Body {
    System(String),
    User(Vec<Part>),
    Assistant(Assistant),
    Tool(Vec<ToolResult>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Text(String),
    Image(Image),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Image {
    media_type: String,
    base64: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Assistant {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    opaque: Vec<Opaque>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opaque {
    provider: String,
    json: String,
    after_text: usize,
    after_calls: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    id: String,
    name: String,
    arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invalid: Option<Invalid>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Invalid {
    Truncated,
    #[serde(rename = "invalid_json")]
    NoJson,
    NotAnObject,
    DuplicateKey,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolResult {
    call_id: String,
    name: String,
    content: Vec<Part>,
    is_error: bool,
}

// Everything is taken apart by name: what is added to a message must be written too, or not
// compile.

impl Message {
    pub(super) fn of(message: &message::Message) -> Self {
        let says = match message.body() {
            MessageBody::System(text) => Body::System(text.clone()),
            MessageBody::User(parts) => Body::User(parts.iter().map(Part::of).collect()),
            MessageBody::Assistant(answer) => Body::Assistant(Assistant::of(answer)),
            MessageBody::Tool(results) => Body::Tool(results.iter().map(ToolResult::of).collect()),
        };
        let id = message.id().as_str().to_owned();
        Self { id, says }
    }

    pub(super) fn into_message(self) -> Result<message::Message, BoxError> {
        let body = match self.says {
            Body::System(text) => MessageBody::System(text),
            Body::User(parts) => MessageBody::User(into_parts(parts)?),
            Body::Assistant(answer) => MessageBody::Assistant(answer.into_answer()),
            Body::Tool(results) => MessageBody::Tool(
                results
                    .into_iter()
                    .map(ToolResult::into_result)
                    .collect::<Result<_, _>>()?,
            ),
        };
        Ok(message::Message::with_id(MessageId::new(self.id), body))
    }
}

impl Part {
    fn of(part: &ContentPart) -> Self {
        match part {
            ContentPart::Text(text) => Self::Text(text.clone()),
            ContentPart::Image(image) => Self::Image(Image {
                media_type: image.media_type().to_owned(),
                base64: image.base64(),
            }),
        }
    }

    fn into_part(self) -> Result<ContentPart, BoxError> {
        Ok(match self {
            Self::Text(text) => ContentPart::Text(text),
            Self::Image(image) => {
                let data = STANDARD.decode(image.base64)?;
                ContentPart::Image(message::Image::new(image.media_type, data))
            }
        })
    }
}

fn into_parts(parts: Vec<Part>) -> Result<Vec<ContentPart>, BoxError> {
    parts.into_iter().map(Part::into_part).collect()
}

impl Assistant {
    fn of(answer: &AssistantMessage) -> Self {
        let AssistantMessage {
            text,
            reasoning,
            tool_calls,
            opaque,
        } = answer;
        Self {
            text: text.clone(),
            reasoning: reasoning.clone(),
            tool_calls: tool_calls.iter().map(ToolCall::of).collect(),
            opaque: opaque.iter().map(Opaque::of).collect(),
        }
    }

    fn into_answer(self) -> AssistantMessage {
        let calls = self.tool_calls.into_iter().map(ToolCall::into_call);
        AssistantMessage::new(self.text, self.reasoning, calls.collect())
            .with_opaque(self.opaque.into_iter().map(Opaque::into_part).collect())
    }
}

impl Opaque {
    fn of(part: &message::OpaquePart) -> Self {
        let message::OpaquePart {
            provider,
            json,
            after_text,
            after_calls,
        } = part;
        Self {
            provider: provider.clone().into_owned(),
            json: json.clone(),
            after_text: *after_text,
            after_calls: *after_calls,
        }
    }

    fn into_part(self) -> message::OpaquePart {
        message::OpaquePart::new(self.provider, self.json).after(self.after_text, self.after_calls)
    }
}

impl ToolCall {
    fn of(call: &message::ToolCall) -> Self {
        use message::InvalidArguments as Why;

        let message::ToolCall {
            id,
            name,
            arguments,
            invalid,
            extra,
        } = call;
        Self {
            id: id.to_string(),
            name: name.to_string(),
            arguments: arguments.to_string(),
            invalid: invalid.map(|why| match why {
                Why::Truncated => Invalid::Truncated,
                Why::InvalidJson => Invalid::NoJson,
                Why::NotAnObject => Invalid::NotAnObject,
                Why::DuplicateKey => Invalid::DuplicateKey,
            }),
            extra: extra.clone(),
        }
    }

    fn into_call(self) -> message::ToolCall {
        use message::InvalidArguments as Why;

        // The text was judged when it came; it is not judged again.
        message::ToolCall {
            id: self.id.into(),
            name: self.name.into(),
            arguments: self.arguments.into(),
            invalid: self.invalid.map(|why| match why {
                Invalid::Truncated => Why::Truncated,
                Invalid::NoJson => Why::InvalidJson,
                Invalid::NotAnObject => Why::NotAnObject,
                Invalid::DuplicateKey => Why::DuplicateKey,
            }),
            extra: self.extra,
        }
    }
}

impl ToolResult {
    pub(super) fn of(result: &message::ToolResult) -> Self {
        let message::ToolResult {
            call_id,
            name,
            content,
            is_error,
        } = result;
        Self {
            call_id: call_id.to_string(),
            name: name.to_string(),
            content: content.iter().map(Part::of).collect(),
            is_error: *is_error,
        }
    }

    pub(super) fn into_result(self) -> Result<message::ToolResult, BoxError> {
        Ok(message::ToolResult {
            call_id: self.call_id.into(),
            name: self.name.into(),
            content: message::parts(into_parts(self.content)?),
            is_error: self.is_error,
        })
    }
}
