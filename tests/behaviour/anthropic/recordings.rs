//! Reads what a real llama-server answered at its Messages endpoint, cut in several ways.

use agent_core::model::ModelErrorKind;
use agent_tests::fixtures::json_files;
use agent_tests::replay::recorded;
use serde_json::Value;

use super::ask;

/// Text, calls and stop reason, found without the client's rules.
fn plainly(recording: &Value) -> (String, Vec<(String, Value)>, String) {
    let body = recording["body_text"].as_str().unwrap();
    let events: Vec<Value> = body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let mut blocks: Vec<(Value, String)> = Vec::new();
    let mut reason = String::new();
    for event in &events {
        let index = event["index"].as_u64().unwrap_or(0) as usize;
        let delta = &event["delta"];
        if event["type"] == "content_block_start" {
            blocks.push((event["content_block"].clone(), String::new()));
        } else if event["type"] == "content_block_delta" {
            let more = delta["text"].as_str().or(delta["partial_json"].as_str());
            blocks[index].1 += more.unwrap();
        } else if let Some(word) = delta["stop_reason"].as_str() {
            word.clone_into(&mut reason);
        }
    }
    if events.is_empty() {
        let plain: Value = serde_json::from_str(body).unwrap();
        plain["stop_reason"]
            .as_str()
            .unwrap()
            .clone_into(&mut reason);
        for block in plain["content"].as_array().unwrap() {
            let more = block["text"]
                .as_str()
                .map_or_else(|| block["input"].to_string(), str::to_owned);
            blocks.push((block.clone(), more));
        }
    }
    let (calls, texts): (Vec<_>, Vec<_>) = blocks
        .into_iter()
        .partition(|(block, _)| block["type"] == "tool_use");
    let call = |(block, input): (Value, String)| {
        (
            block["name"].as_str().unwrap().to_owned(),
            serde_json::from_str(&input).unwrap(),
        )
    };
    let text = texts.into_iter().map(|(_, text)| text).collect();
    (text, calls.into_iter().map(call).collect(), reason)
}

// B8, E4
#[tokio::test]
async fn every_recorded_answer_is_read_however_it_is_cut() {
    let mut read = 0;
    for (name, recording) in json_files("llama-server-messages") {
        if recording["status"] != 200 {
            continue;
        }
        for size in [usize::MAX, 1, 7, 100] {
            let is_stream = recording["request"]["body"]["stream"] == true;
            let outcome = ask(recorded(&recording).cut(size), is_stream).await;
            let response = outcome
                .result
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let calls = response.message.tool_calls.iter();
            let calls: Vec<(String, Value)> = calls
                .map(|call| (call.name().to_owned(), call.arguments_value().unwrap()))
                .collect();
            let (text, expected, reason) = plainly(&recording);
            assert_eq!(response.message.text, text, "{name} in pieces of {size}");
            assert_eq!(calls, expected, "{name} in pieces of {size}");
            let ours = match &*reason {
                "end_turn" => "stop",
                "max_tokens" => "length",
                "tool_use" => "tool_calls",
                other => other,
            };
            assert_eq!(response.finish_reason.to_string(), ours, "{name}");
            assert!(response.usage.unwrap().output_tokens > 0, "{name}");
        }
        read += 1;
    }

    assert!(read >= 9, "only {read} recordings");
}

// B13
#[tokio::test]
async fn every_recorded_refusal_is_an_error_with_the_servers_own_words() {
    let mut read = 0;
    for (name, recording) in json_files("llama-server-messages") {
        if recording["status"] == 200 {
            continue;
        }
        let error = ask(recorded(&recording), true).await.result.unwrap_err();
        let kind = match recording["status"].as_u64() {
            Some(401) => ModelErrorKind::Auth,
            _ => ModelErrorKind::HttpStatus,
        };
        let body: Value = serde_json::from_str(recording["body_text"].as_str().unwrap()).unwrap();
        assert_eq!(error.kind(), kind, "{name}");
        assert!(
            error
                .to_string()
                .contains(body["error"]["message"].as_str().unwrap())
        );
        read += 1;
    }

    assert!(read >= 2, "only {read} recordings");
}
