//! Holds what a client made of an answer against what its case expects.

use std::fmt::Debug;

use agent_core::message::{AssistantMessage, InvalidArguments, ToolCall};
use agent_core::model::{ChatResponse, FinishReason, ModelError, ModelErrorKind};
use serde_json::{Value, json};

use super::{HandedOut, Outcome};

/// Compares with what is expected, then with what else is acceptable.
pub(super) fn case(case: &Value, outcome: &Outcome) -> Result<(), String> {
    let first = compare(&case["expect"], outcome);
    let mut others = case["also_acceptable"].as_array().into_iter().flatten();
    if first.is_err() && others.any(|expect| compare(expect, outcome).is_ok()) {
        return Ok(());
    }
    first
}

fn compare(expect: &Value, outcome: &Outcome) -> Result<(), String> {
    match (&outcome.result, expect.get("error")) {
        (Ok(response), None) => message(expect, response),
        (Err(got), Some(expected)) => {
            error(expected, got)?;
            partial(&expect["partial"], &outcome.handed_out)
        }
        (Ok(response), Some(_)) => Err(format!("an error was expected, got {response:?}")),
        (Err(error), None) => Err(format!("a message was expected, got {error:?}")),
    }
}

/// What was handed out before an error. A plain answer hands out nothing.
fn partial(expect: &Value, handed_out: &HandedOut) -> Result<(), String> {
    same("calls handed out", handed_out.calls, 0)?;
    for (what, got) in [
        ("text", &handed_out.text),
        ("reasoning", &handed_out.reasoning),
    ] {
        if let Some(expected) = expect[what].as_str() {
            same(&format!("partial {what}"), &**got, expected)?;
        }
    }
    Ok(())
}

fn message(expect: &Value, response: &ChatResponse) -> Result<(), String> {
    let message = &response.message;
    let text = expect["text"].as_str().unwrap_or_default();
    same("text", &*message.text, text)?;
    let reasoning = expect["reasoning"].as_str();
    same("reasoning", message.reasoning.as_deref(), reasoning)?;
    if let Some(expected) = expect["finish_reason"].as_str() {
        let got = match &response.finish_reason {
            FinishReason::Other(_) => "other".to_owned(),
            reason => reason.to_string(),
        };
        same("finish reason", &*got, expected)?;
    }
    for (name, count) in expect["usage"].as_object().into_iter().flatten() {
        let usage = response.usage.ok_or("there is no usage")?;
        let got = match &**name {
            "input_tokens" => usage.input_tokens,
            "output_tokens" => usage.output_tokens,
            "total_tokens" => usage.total_tokens,
            "cached_input_tokens" | "cache_read_input_tokens" => usage.cached_input_tokens,
            "cache_write_input_tokens" | "cache_creation_input_tokens" => {
                usage.cache_write_input_tokens
            }
            "reasoning_tokens" => usage.reasoning_tokens,
            other => return Err(format!("the case asks for the unknown count `{other}`")),
        };
        same(name, Some(got), count.as_u64())?;
    }
    let calls = expect["tool_calls"]
        .as_array()
        .map_or(&[][..], |calls| calls);
    same("number of calls", message.tool_calls.len(), calls.len())?;
    for (position, (got, expect)) in message.tool_calls.iter().zip(calls).enumerate() {
        call(expect, got)?;
        let mut earlier = message.tool_calls[..position].iter();
        let meets = earlier.any(|other| other.id() == got.id());
        same(&format!("the id `{}` again", got.id()), meets, false)?;
    }
    match expect["content_blocks"].as_array() {
        Some(expected) => blocks(expected, message),
        None => Ok(()),
    }
}

fn call(expect: &Value, call: &ToolCall) -> Result<(), String> {
    match expect["id"].as_str() {
        Some("<generated>") => same("id is empty", call.id().is_empty(), false)?,
        id => same("id", Some(call.id()), id)?,
    }
    same("name", Some(call.name()), expect["name"].as_str())?;
    match expect.get("invalid_arguments") {
        None => {
            let got = call.arguments_value();
            same("arguments", got.as_ref(), expect.get("arguments"))?;
        }
        Some(invalid) => {
            let kind = match call.invalid() {
                Some(InvalidArguments::Truncated) => "truncated",
                Some(InvalidArguments::InvalidJson) => "invalid_json",
                Some(InvalidArguments::NotAnObject) => "not_an_object",
                Some(InvalidArguments::DuplicateKey) => "duplicate_key",
                _ => "valid",
            };
            same("invalid arguments", Some(kind), invalid["kind"].as_str())?;
            let raw = invalid["raw"].as_str();
            same("raw arguments", Some(call.arguments()), raw)?;
        }
    }
    match expect["extra"].as_object() {
        Some(extra) => same("extra fields", call.extra(), extra),
        None => Ok(()),
    }
}

/// All blocks, or all of the types that the case lists; of each the keys that it lists.
fn blocks(expect: &[Value], message: &AssistantMessage) -> Result<(), String> {
    let all = written(message);
    let is_listed = |block: &&Value| expect.iter().any(|other| other["type"] == block["type"]);
    let listed: Vec<&Value> = all.iter().filter(is_listed).collect();
    let fits = |(got, expect): (&&Value, &Value)| {
        let mut keys = expect.as_object().into_iter().flatten();
        keys.all(|(key, value)| got.get(key) == Some(value))
    };
    match listed.len() == expect.len() && listed.iter().zip(expect).all(fits) {
        true => Ok(()),
        false => Err(format!("content blocks are {all:?}, not {expect:?}")),
    }
}

/// The content of a message as the blocks of a Messages API.
fn written(message: &AssistantMessage) -> Vec<Value> {
    let mut blocks = Vec::new();
    let (mut text, mut calls) = (0, 0);
    let mut upto = |blocks: &mut Vec<Value>, to_text: usize, to_calls: usize| {
        if let Some(text) = message
            .text
            .get(text..to_text)
            .filter(|text| !text.is_empty())
        {
            blocks.push(json!({"type": "text", "text": text}));
        }
        for call in message
            .tool_calls
            .get(calls..to_calls)
            .into_iter()
            .flatten()
        {
            let input = call.arguments_value();
            blocks.push(json!({
                "type": "tool_use", "id": call.id(), "name": call.name(), "input": input,
            }));
        }
        (text, calls) = (to_text, to_calls);
    };
    for part in &message.opaque {
        upto(&mut blocks, part.after_text, part.after_calls);
        blocks.push(serde_json::from_str(&part.json).unwrap_or_default());
    }
    upto(&mut blocks, message.text.len(), message.tool_calls.len());
    blocks
}

fn error(expect: &Value, error: &ModelError) -> Result<(), String> {
    let shown = error.to_string();
    for (name, value) in expect.as_object().into_iter().flatten() {
        // One text may stand without a list.
        let texts = || {
            let list = value.as_array().into_iter().flatten();
            list.chain(Some(value)).filter_map(Value::as_str)
        };
        match &**name {
            "kind" => same(name, Some(kind(error.kind())), value.as_str())?,
            "retryable" => same(name, Some(error.is_retryable()), value.as_bool())?,
            "status" => same(name, error.status().map(u64::from), value.as_u64())?,
            "code" => {
                let expected = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                same(name, error.code(), Some(&*expected))?;
            }
            "failed_generation" => same(name, error.failed_generation(), value.as_str())?,
            "retry_after_ms" => {
                let wait = error.retry_after().map(|wait| wait.as_millis() as u64);
                same(name, wait, value.as_u64())?;
            }
            "message_contains" => {
                if let Some(lacks) = texts().find(|text| !shown.contains(text)) {
                    return Err(format!("`{shown}` lacks `{lacks}`"));
                }
            }
            "message_not_contains" => {
                if let Some(has) = texts().find(|text| shown.contains(text)) {
                    return Err(format!("`{shown}` has `{has}`"));
                }
            }
            other => return Err(format!("the case asks for the unknown `{other}`")),
        }
    }
    Ok(())
}

/// The one place that maps the error kinds to the words of the case files.
fn kind(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::ProviderError => "provider_error",
        ModelErrorKind::HttpStatus => "http_status",
        ModelErrorKind::RateLimited => "rate_limited",
        ModelErrorKind::Auth => "auth",
        ModelErrorKind::InvalidRequest => "invalid_request",
        ModelErrorKind::ToolGenerationFailed => "tool_generation_failed",
        ModelErrorKind::UnexpectedContentType => "unexpected_content_type",
        ModelErrorKind::Decode => "decode",
        ModelErrorKind::StreamTruncated => "stream_truncated",
        ModelErrorKind::StreamIdleTimeout => "stream_idle_timeout",
        ModelErrorKind::Transport => "transport",
        ModelErrorKind::EmptyResponse => "empty_response",
        _ => "unnamed",
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the callers read better without `&`"
)]
fn same<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Result<(), String> {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{what} is {got:?}, not {expected:?}")),
    }
}
