//! Runs every case file of `tests/fixtures/cases`; a file added there needs no code here.

use agent_core::message::{InvalidArguments, ToolCall};
use agent_core::model::{ChatResponse, FinishReason, ModelError, ModelErrorKind};
use agent_tests::fixtures::json_files;
use agent_tests::replay::Answer;
use base64::Engine as _;
use serde_json::Value;

use super::{Outcome, ask};

// B8, B13, E4
#[tokio::test]
async fn every_case_is_read_as_its_file_says_however_it_is_cut() {
    let mut faults = Vec::new();
    for (name, case) in json_files("cases") {
        assert_eq!(case["protocol"], "openai-chat", "{name}");
        for (way, answer) in deliveries(&case) {
            let is_stream = case["stream"] == true;
            let outcome = ask(answer.clone(), is_stream).await;
            faults.extend(
                compare(&case, &outcome)
                    .map_err(|why| format!("{name}, {way}: {why}"))
                    .err(),
            );
            if !is_stream {
                // A server may answer plainly to who asked for a stream: same result.
                let outcome = ask(answer, true).await;
                faults.extend(
                    compare(&case, &outcome)
                        .map_err(|why| format!("{name}, {way}, streamed: {why}"))
                        .err(),
                );
            }
        }
    }

    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn deliveries(case: &Value) -> Vec<(&'static str, Answer)> {
    let status = case["http"]["status"].as_u64().unwrap() as u16;
    let mut answer = Answer::status(status);
    for (name, value) in case["http"]["headers"].as_object().into_iter().flatten() {
        answer = answer.header(name, value.as_str().unwrap());
    }
    let packets = match &case["body"] {
        Value::Array(packets) => packets.clone(),
        body => vec![body.clone()],
    };
    for packet in &packets {
        answer = answer.piece(bytes(packet));
    }
    if case["transport"]["end"] == "reset" {
        answer = answer.then_break();
    }
    vec![
        ("whole", answer.clone().cut(usize::MAX)),
        ("byte by byte", answer.clone().cut(1)),
        ("as given", answer),
    ]
}

fn bytes(packet: &Value) -> Vec<u8> {
    match packet {
        Value::String(text) => text.clone().into_bytes(),
        packet => {
            let text = packet["base64"].as_str().unwrap();
            base64::engine::general_purpose::STANDARD
                .decode(text)
                .unwrap()
        }
    }
}

fn compare(case: &Value, outcome: &Outcome) -> Result<(), String> {
    let others = case["also_acceptable"].as_array();
    let first = compare_one(&case["expect"], outcome);
    match first {
        Err(_)
            if others
                .into_iter()
                .flatten()
                .any(|expect| compare_one(expect, outcome).is_ok()) =>
        {
            Ok(())
        }
        first => first,
    }
}

fn compare_one(expect: &Value, outcome: &Outcome) -> Result<(), String> {
    match (&outcome.result, expect.get("error")) {
        (Ok(response), None) => compare_message(expect, response),
        (Err(error), Some(expected)) => {
            compare_error(expected, error)?;
            same("calls handed out", outcome.calls_before_end, 0)?;
            match expect["partial"]["text"].as_str() {
                Some(text) => same("partial text", &*outcome.text, text),
                None => Ok(()),
            }
        }
        (Ok(response), Some(_)) => Err(format!("an error was expected, got {response:?}")),
        (Err(error), None) => Err(format!("a message was expected, got {error:?}")),
    }
}

fn compare_message(expect: &Value, response: &ChatResponse) -> Result<(), String> {
    let message = &response.message;
    same("text", Some(&*message.text), expect["text"].as_str())?;
    same(
        "reasoning",
        message.reasoning.as_deref(),
        expect["reasoning"].as_str(),
    )?;
    let finish_reason = match &response.finish_reason {
        FinishReason::Other(_) => "other".to_owned(),
        reason => reason.to_string(),
    };
    same(
        "finish reason",
        Some(&*finish_reason),
        expect["finish_reason"].as_str(),
    )?;
    for (name, count) in expect["usage"].as_object().into_iter().flatten() {
        let usage = response.usage.ok_or("no usage")?;
        let got = match &**name {
            "input_tokens" => usage.input_tokens,
            "output_tokens" => usage.output_tokens,
            "total_tokens" => usage.total_tokens,
            "cached_input_tokens" => usage.cached_input_tokens,
            "reasoning_tokens" => usage.reasoning_tokens,
            other => return Err(format!("the case asks for the unknown count `{other}`")),
        };
        same(name, Some(got), count.as_u64())?;
    }
    let calls = expect["tool_calls"]
        .as_array()
        .ok_or("the case has no `tool_calls`")?;
    same("number of calls", message.tool_calls.len(), calls.len())?;
    for (position, (call, expect)) in message.tool_calls.iter().zip(calls).enumerate() {
        compare_call(expect, call)?;
        let earlier = &message.tool_calls[..position];
        same(
            "call with the same id",
            earlier.iter().find(|other| other.id == call.id),
            None,
        )?;
    }
    Ok(())
}

fn compare_call(expect: &Value, call: &ToolCall) -> Result<(), String> {
    match expect["id"].as_str() {
        Some("<generated>") => same("id is empty", call.id.is_empty(), false)?,
        id => same("id", Some(&*call.id), id)?,
    }
    same("name", Some(&*call.name), expect["name"].as_str())?;
    match expect.get("invalid_arguments") {
        None => same(
            "arguments",
            call.arguments_value().as_ref(),
            expect.get("arguments"),
        )?,
        Some(invalid) => {
            let kind = match call.invalid {
                Some(InvalidArguments::Truncated) => "truncated",
                Some(InvalidArguments::InvalidJson) => "invalid_json",
                Some(InvalidArguments::NotAnObject) => "not_an_object",
                Some(InvalidArguments::DuplicateKey) => "duplicate_key",
                _ => "valid",
            };
            same("invalid arguments", Some(kind), invalid["kind"].as_str())?;
            same(
                "raw arguments",
                Some(&*call.arguments),
                invalid["raw"].as_str(),
            )?;
        }
    }
    match expect["extra"].as_object() {
        Some(extra) => same("extra fields", &call.extra, extra),
        None => Ok(()),
    }
}

fn compare_error(expect: &Value, error: &ModelError) -> Result<(), String> {
    same("kind", Some(kind(error.kind())), expect["kind"].as_str())?;
    same(
        "retryable",
        Some(error.is_retryable()),
        expect["retryable"].as_bool(),
    )?;
    let message = error.to_string();
    for part in expect["message_contains"].as_array().into_iter().flatten() {
        same("message", message.contains(part.as_str().unwrap()), true)
            .map_err(|_| format!("`{message}` lacks {part}"))?;
    }
    for part in expect["message_not_contains"]
        .as_array()
        .into_iter()
        .flatten()
    {
        same("message", message.contains(part.as_str().unwrap()), false)
            .map_err(|_| format!("`{message}` has {part}"))?;
    }
    for (name, value) in expect.as_object().into_iter().flatten() {
        match &**name {
            "status" => same(name, error.status().map(u64::from), value.as_u64())?,
            "code" => same(name, error.code(), value.as_str())?,
            "failed_generation" => same(name, error.failed_generation(), value.as_str())?,
            "retry_after_ms" => {
                let wait = error.retry_after().map(|wait| wait.as_millis() as u64);
                same(name, wait, value.as_u64())?;
            }
            "kind" | "retryable" | "message_contains" | "message_not_contains" => {}
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
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Result<(), String> {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{what} is {got:?}, not {expected:?}")),
    }
}
