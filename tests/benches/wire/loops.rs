//! Two loops by hand: the least that can be done, and what a careful user writes.

use reqwest::{Client, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::server::{self, Server};
use super::{Case, Fallible, five};

pub(crate) struct Loops {
    client: Client,
    url: String,
    model: String,
    streaming: bool,
    tools: Value,
    /// Everything of a body before its first message.
    head: String,
}

#[derive(Serialize, Deserialize, Default)]
struct Message {
    #[serde(default)]
    role: String,
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Vec<Call>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
}

#[derive(Serialize, Deserialize, Default)]
struct Call {
    #[serde(default, skip_serializing)]
    index: usize,
    #[serde(default)]
    id: String,
    #[serde(default, rename = "type")]
    kind: String,
    function: Function,
}

#[derive(Serialize, Deserialize, Default)]
struct Function {
    #[serde(default)]
    name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "delta")]
    message: Message,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: &'a [Message],
    tools: &'a Value,
    stream: bool,
}

impl Loops {
    pub(crate) fn new(server: &Server, case: Case) -> Fallible<Self> {
        let tool = |name: &str, input: Value| {
            let function = json!({"name": name, "description": "A tool.", "parameters": input});
            json!({"type": "function", "function": function})
        };
        let integer = json!({"type": "integer", "description": "An addend"});
        let two = json!({"type": "object", "properties": {"a": integer, "b": integer}, "required": ["a", "b"]});
        let mut tools = vec![tool("add", two)];
        tools.extend((1..case.tools).map(|number| tool(&format!("search_{number}"), five())));
        let (tools, model) = (Value::from(tools), server::model(case.rounds, case.calls));
        // A client that only speaks plain HTTP loads no certificates.
        let provider = rustls::crypto::ring::default_provider();
        let tls = rustls::ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()?
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        Ok(Self {
            client: Client::builder().tls_backend_preconfigured(tls).build()?,
            url: format!("{}/chat/completions", server.url()),
            streaming: case.streaming,
            head: format!(
                "{{\"model\":\"{model}\",\"stream\":{},\"tools\":{tools},\"messages\":[",
                case.streaming
            ),
            tools,
            model,
        })
    }

    /// One growing body, tools written once.
    pub(crate) async fn floor(&self, question: &str) -> Fallible<String> {
        let mut body = self.head.clone().into_bytes();
        serde_json::to_writer(&mut body, &json!({"role": "user", "content": question}))?;
        loop {
            let mut sent = Vec::with_capacity(body.len() + 2);
            sent.extend_from_slice(&body);
            sent.extend_from_slice(b"]}");
            let answer = self.send(sent).await?;
            let Some(calls) = &answer.tool_calls else {
                return Ok(answer.content.unwrap_or_default());
            };
            body.push(b',');
            serde_json::to_writer(&mut body, &answer)?;
            for call in calls {
                body.push(b',');
                serde_json::to_writer(&mut body, &result(call)?)?;
            }
        }
    }

    /// Typed messages, written anew for each request.
    pub(crate) async fn hand(&self, question: &str) -> Fallible<String> {
        let mut messages = vec![Message {
            role: "user".to_owned(),
            content: Some(question.to_owned()),
            ..Message::default()
        }];
        loop {
            let request = Request {
                model: &self.model,
                messages: &messages,
                tools: &self.tools,
                stream: self.streaming,
            };
            let answer = self.send(serde_json::to_vec(&request)?).await?;
            let Some(calls) = &answer.tool_calls else {
                return Ok(answer.content.unwrap_or_default());
            };
            let results: Vec<Message> = calls.iter().map(result).collect::<Fallible<_>>()?;
            messages.push(answer);
            messages.extend(results);
        }
    }

    async fn send(&self, body: Vec<u8>) -> Fallible<Message> {
        let request = self.client.post(&self.url);
        let request = request
            .header("content-type", "application/json")
            .body(body);
        let response = request.send().await?;
        if !response.status().is_success() {
            return Err(response.text().await?.into());
        }
        if self.streaming {
            return streamed(response).await;
        }
        let mut answer: Answer = serde_json::from_slice(&response.bytes().await?)?;
        Ok(answer.choices.remove(0).message)
    }
}

async fn streamed(mut response: Response) -> Fallible<Message> {
    let mut whole = Message {
        role: "assistant".to_owned(),
        ..Message::default()
    };
    let mut kept: Vec<u8> = Vec::new();
    while let Some(bytes) = response.chunk().await? {
        kept.extend_from_slice(&bytes);
        let mut from = 0;
        while let Some(end) = kept[from..].iter().position(|byte| *byte == b'\n') {
            let line = &kept[from..from + end];
            from += end + 1;
            let Some(data) = line
                .strip_prefix(b"data: ")
                .filter(|data| *data != b"[DONE]")
            else {
                continue;
            };
            for choice in serde_json::from_slice::<Answer>(data)?.choices {
                take(&mut whole, choice.message);
            }
        }
        kept.drain(..from);
    }
    Ok(whole)
}

fn take(whole: &mut Message, piece: Message) {
    if let Some(text) = piece.content {
        whole.content.get_or_insert_default().push_str(&text);
    }
    for piece in piece.tool_calls.into_iter().flatten() {
        let calls = whole.tool_calls.get_or_insert_default();
        if calls.len() == piece.index {
            calls.push(piece);
        } else if let Some(call) = calls.get_mut(piece.index) {
            call.function.arguments.push_str(&piece.function.arguments);
        }
    }
}

fn result(call: &Call) -> Fallible<Message> {
    #[derive(Deserialize)]
    struct Addends {
        a: i64,
        b: i64,
    }
    let Addends { a, b } = serde_json::from_str(&call.function.arguments)?;
    Ok(Message {
        role: "tool".to_owned(),
        content: Some((a + b).to_string()),
        tool_calls: None,
        tool_call_id: Some(call.id.clone()),
    })
}
