//! Runs wire cases: what a server sent, and the message or error a client must make of it.
//!
//! The form of a case is told by `tests/fixtures/cases/README.md`. Each is delivered as given,
//! whole, and byte by byte, streamed or plain as it says; a plain one is also asked for as a
//! stream, because a server may answer plainly to who wanted one.

mod compare;
mod form;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent_core::Message;
use agent_core::message::Transcript;
use agent_core::model::openai::Profile;
use agent_core::model::{
    Accumulator, Anthropic, ChatModel, ChatRequest, ChatResponse, ModelDelta, ModelError, OpenAi,
    Timeouts,
};
use base64::Engine as _;
use futures_util::StreamExt as _;
use serde_json::Value;

use crate::replay::{Answer, ReplayServer};

/// What came of one request.
#[derive(Debug)]
pub struct Outcome {
    /// The message, or the error.
    pub result: Result<ChatResponse, ModelError>,
    /// What was handed out, also before an error.
    pub handed_out: HandedOut,
}

/// What a stream gave before it ended.
#[derive(Debug, Default)]
pub struct HandedOut {
    /// The text.
    pub text: String,
    /// The reasoning.
    pub reasoning: String,
    /// How many whole calls.
    pub calls: usize,
}

/// Asks for a whole answer, or drains a stream.
pub async fn ask(model: &dyn ChatModel, request: ChatRequest, is_stream: bool) -> Outcome {
    let mut handed_out = HandedOut::default();
    if !is_stream {
        return Outcome {
            result: model.chat(request).await,
            handed_out,
        };
    }
    let mut deltas = model.stream(request);
    let mut accumulator = Accumulator::new();
    while let Some(delta) = deltas.next().await {
        let delta = match delta {
            Ok(delta) => delta,
            Err(error) => {
                return Outcome {
                    result: Err(error),
                    handed_out,
                };
            }
        };
        match &delta {
            ModelDelta::Text(piece) => handed_out.text.push_str(piece),
            ModelDelta::Reasoning(piece) => handed_out.reasoning.push_str(piece),
            ModelDelta::ToolCall(_) => handed_out.calls += 1,
            _ => {}
        }
        accumulator.push(delta);
    }
    Outcome {
        result: accumulator.finish(),
        handed_out,
    }
}

/// A request that says no more than it must.
///
/// # Panics
///
/// Never: one user message is a whole history.
#[must_use]
pub fn request() -> ChatRequest {
    let transcript = Transcript::from_messages([Message::user("Hi")]).expect("one message");
    ChatRequest::new(transcript).expect("a closed history")
}

/// A case, or why its file cannot be read: a case that fails.
pub type Case = Result<Value, String>;

/// What is in a folder.
#[derive(Debug, Default)]
pub struct Folder {
    /// The cases by name, in order.
    pub cases: Vec<(String, Case)>,
    /// The names of what holds none, in order, and why that is so.
    pub passed_over: Vec<(String, &'static str)>,
}

/// Reads a folder; files without `protocol` are of another kind.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn folder(folder: &Path) -> io::Result<Folder> {
    let mut found = Folder::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut pass_over = |why| found.passed_over.push((name.clone().into_owned(), why));
        if path.is_dir() {
            pass_over("a folder");
            continue;
        }
        if path.extension().is_none_or(|extension| extension != "json") {
            pass_over("no `.json`");
            continue;
        }
        let text = text_of(&path);
        let case = text.and_then(|text| {
            let case = serde_json::from_slice::<Value>(&text);
            case.map_err(|error| format!("the file is no JSON: {error}"))
        });
        if let Ok(case) = &case
            && case.get("protocol").is_none()
        {
            pass_over("no `protocol`");
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        found.cases.push((name.into_owned(), case));
    }
    found.cases.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.passed_over.sort();
    Ok(found)
}

/// The bytes of a file; what is none, such as a pipe, would be waited for.
fn text_of(path: &Path) -> Result<Vec<u8>, String> {
    let kind = fs::metadata(path).map_err(|error| error.to_string())?;
    if !kind.is_file() {
        return Err("this is no file".to_owned());
    }
    fs::read(path).map_err(|error| error.to_string())
}

/// Runs one case in every way, and says what was not as it should be.
pub async fn faults(case: &Case) -> Vec<String> {
    let mut faults = Vec::new();
    let case = match case {
        Ok(case) if case["expect"].is_object() => case,
        Ok(_) => return vec!["the case expects nothing".to_owned()],
        Err(why) => return vec![why.clone()],
    };
    let ways = match form::check(case).and_then(|()| deliveries(case)) {
        Ok(ways) => ways,
        Err(why) => return vec![why],
    };
    let is_stream = case["stream"] == true;
    for (way, answer) in ways {
        let modes: &[bool] = if is_stream { &[true] } else { &[false, true] };
        for mode in modes {
            let how = if *mode { "streamed" } else { "plain" };
            match deliver(case, answer.clone(), *mode).await {
                Ok(outcome) => faults.extend(
                    compare::case(case, &outcome)
                        .err()
                        .map(|why| format!("{way}, {how}: {why}")),
                ),
                Err(why) => return vec![why],
            }
        }
    }
    faults
}

async fn deliver(case: &Value, answer: Answer, is_stream: bool) -> Result<Outcome, String> {
    let server = ReplayServer::start([answer]).await;
    let model = client(case, &server.url())?;
    Ok(ask(&*model, request(), is_stream).await)
}

/// The client a case is for, with the settings it depends on.
fn client(case: &Value, url: &str) -> Result<Arc<dyn ChatModel>, String> {
    let given = &case["given"];
    let idle = given["idle_timeout_ms"]
        .as_u64()
        .or_else(|| given["stream_idle_timeout_ms"].as_u64());
    // A case that hangs must end in time, also where it says nothing about it.
    let idle = Duration::from_millis(idle.unwrap_or(1000));
    let timeouts = Timeouts::new().idle(idle);
    let failed = |error: ModelError| error.to_string();
    match case["protocol"].as_str() {
        Some("openai-chat") => {
            let mut client = OpenAi::builder()
                .base_url(url)
                .model("m")
                .timeouts(timeouts);
            if let Some(name) = given["profile"].as_str() {
                let profile = name.parse::<Profile>();
                client = client.profile(profile.map_err(|error| error.to_string())?);
            }
            if let Some(key) = given["api_key"].as_str() {
                client = client.api_key(key);
            }
            client
                .build()
                .map(|client| Arc::new(client) as _)
                .map_err(failed)
        }
        Some("anthropic-messages") => {
            let mut client = Anthropic::builder()
                .base_url(url)
                .model("m")
                .timeouts(timeouts);
            if let Some(key) = given["api_key"].as_str() {
                client = client.api_key(key);
            }
            client
                .build()
                .map(|client| Arc::new(client) as _)
                .map_err(failed)
        }
        other => Err(format!("there is no client for the protocol {other:?}")),
    }
}

fn deliveries(case: &Value) -> Result<Vec<(&'static str, Answer)>, String> {
    let status = case["http"]["status"].as_u64().unwrap_or(200);
    let mut answer = Answer::status(u16::try_from(status).map_err(|error| error.to_string())?);
    for (name, value) in case["http"]["headers"].as_object().into_iter().flatten() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        answer = answer.header(name, value);
    }
    let packets = match &case["body"] {
        Value::Array(packets) => packets.clone(),
        Value::Null => Vec::new(),
        body => vec![body.clone()],
    };
    for packet in &packets {
        answer = answer.piece(bytes(packet)?);
    }
    answer = match case["transport"]["end"].as_str() {
        None | Some("close") => answer,
        Some("reset") => answer.then_break(),
        Some("hang" | "idle" | "stall") => answer.then_hang(),
        Some(other) => return Err(format!("the transport cannot end with `{other}`")),
    };
    Ok(vec![
        ("as given", answer.clone()),
        ("whole", answer.clone().cut(usize::MAX)),
        ("byte by byte", answer.cut(1)),
    ])
}

fn bytes(packet: &Value) -> Result<Vec<u8>, String> {
    match (packet, packet["base64"].as_str()) {
        (Value::String(text), _) => Ok(text.clone().into_bytes()),
        (_, Some(text)) => base64::engine::general_purpose::STANDARD
            .decode(text)
            .map_err(|error| error.to_string()),
        _ => Err(format!("a packet is a text or base64, not {packet}")),
    }
}
