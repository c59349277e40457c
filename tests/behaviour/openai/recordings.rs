//! Reads what a real llama-server answered, cut in several ways.

use agent_core::model::ModelErrorKind;
use agent_tests::fixtures::json_files;
use agent_tests::replay::recorded;
use serde_json::Value;

use super::{Outcome, ask};

/// What stands in a recording, found without the client's rules.
#[derive(Debug, Default, PartialEq)]
struct Plainly {
    text: String,
    calls: Vec<(String, String)>,
    finish_reason: String,
    total_tokens: Option<u64>,
}

// B8, E4
#[tokio::test]
async fn every_recorded_answer_is_read_however_it_is_cut() {
    let mut read = 0;
    for (name, recording) in json_files("llama-server") {
        if recording["status"] != 200 || name == "error-unparsed-output-stream" {
            continue;
        }
        for size in [usize::MAX, 1, 7, 100] {
            let outcome = ask_recorded(&recording, size).await;
            let response = outcome
                .result
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let calls = response.message.tool_calls.iter();
            let got = Plainly {
                text: response.message.text,
                calls: calls
                    .map(|call| (call.name().to_owned(), call.arguments().to_owned()))
                    .collect(),
                finish_reason: response.finish_reason.to_string(),
                total_tokens: response.usage.map(|usage| usage.total_tokens),
            };
            assert_eq!(got, plainly(&recording), "{name} in pieces of {size}");
        }
        read += 1;
    }

    assert!(read >= 28, "only {read} recordings");
}

// B13
#[tokio::test]
async fn every_recorded_refusal_is_an_error_with_the_servers_own_words() {
    let mut read = 0;
    for (name, recording) in json_files("llama-server") {
        let status = recording["status"].as_u64().unwrap() as u16;
        if status == 200 {
            continue;
        }
        let error = ask_recorded(&recording, 7).await.result.unwrap_err();
        let kind = match status {
            400 | 404 => ModelErrorKind::InvalidRequest,
            401 => ModelErrorKind::Auth,
            _ => ModelErrorKind::HttpStatus,
        };
        assert_eq!(
            (error.kind(), error.status()),
            (kind, Some(status)),
            "{name}"
        );
        assert_eq!(error.is_retryable(), status >= 500, "{name}");
        let body: Value = serde_json::from_str(recording["body_text"].as_str().unwrap()).unwrap();
        // In one line, and not all of a long one.
        let words: String = body["error"]["message"]
            .as_str()
            .unwrap()
            .replace('\n', " ")
            .chars()
            .take(400)
            .collect();
        assert!(error.to_string().contains(&words), "{name}: {error}");
        read += 1;
    }

    assert!(read >= 18, "only {read} recordings");
}

#[tokio::test]
async fn an_error_inside_a_stream_ends_it() {
    let files = json_files("llama-server");
    let (_, recording) = files
        .iter()
        .find(|(name, _)| name == "error-unparsed-output-stream")
        .unwrap();

    let error = ask_recorded(recording, 7).await.result.unwrap_err();

    assert_eq!(error.kind(), ModelErrorKind::ProviderError);
    assert_eq!(error.code(), Some("500"));
    assert!(error.is_retryable());
    assert_eq!(
        error.to_string(),
        "the provider reported an error: The model produced output that does not match the expected peg-native format"
    );
}

async fn ask_recorded(recording: &Value, size: usize) -> Outcome {
    ask(
        recorded(recording).cut(size),
        recording["request"]["body"]["stream"] == true,
    )
    .await
}

fn plainly(recording: &Value) -> Plainly {
    let body = recording["body_text"].as_str().unwrap();
    let chunks: Vec<Value> = match recording["request"]["body"]["stream"] == true {
        false => vec![serde_json::from_str(body).unwrap()],
        true => body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect(),
    };
    let mut plainly = Plainly::default();
    for chunk in &chunks {
        plainly.total_tokens = chunk["usage"]["total_tokens"]
            .as_u64()
            .or(plainly.total_tokens);
        let choice = &chunk["choices"][0];
        let said = if choice["delta"].is_object() {
            &choice["delta"]
        } else {
            &choice["message"]
        };
        plainly.text += said["content"].as_str().unwrap_or("");
        for (position, call) in said["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            let index = call["index"]
                .as_u64()
                .map_or(position, |index| index as usize);
            if plainly.calls.len() <= index {
                plainly.calls.resize_with(index + 1, Default::default);
            }
            let (name, arguments) = &mut plainly.calls[index];
            *name += call["function"]["name"].as_str().unwrap_or("");
            *arguments += call["function"]["arguments"].as_str().unwrap_or("");
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            reason.clone_into(&mut plainly.finish_reason);
        }
    }
    if plainly.finish_reason == "stop" && !plainly.calls.is_empty() {
        "tool_calls".clone_into(&mut plainly.finish_reason);
    }
    plainly
}
