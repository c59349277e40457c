//! What is read.

use agent_core::model::{FinishReason, ModelErrorKind};
use agent_tests::replay::Answer;
use serde_json::{Value, json};

use super::{ask, thoughtful};

fn events(events: &[Value]) -> Answer {
    let text = |event: &Value| format!("event: x\ndata: {event}\n\n");
    Answer::events(events.iter().map(text).collect::<String>())
}

fn start(index: u32, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn usage(usage: &Value) -> Value {
    json!({"type": "message_start", "message": {"content": [], "usage": usage}})
}

/// The answer [`thoughtful`] as it is streamed.
fn streamed() -> Vec<Value> {
    let counts = json!({
        "input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 7,
        "output_tokens": 1,
    });
    vec![
        usage(&counts),
        start(
            0,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        delta(0, &json!({"type": "thinking_delta", "thinking": "H"})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "m. Ah."})),
        delta(0, &json!({"type": "signature_delta", "signature": "c2"})),
        delta(0, &json!({"type": "signature_delta", "signature": "ln"})),
        stop(0),
        start(1, &json!({"type": "text", "text": ""})),
        delta(1, &json!({"type": "text_delta", "text": "I look."})),
        stop(1),
        start(2, &json!({"type": "redacted_thinking", "data": "ZGF0YQ=="})),
        stop(2),
        start(
            3,
            &json!({"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}),
        ),
        delta(
            3,
            &json!({"type": "input_json_delta", "partial_json": "{\"city\":"}),
        ),
        delta(
            3,
            &json!({"type": "input_json_delta", "partial_json": "\"Oslo\"}"}),
        ),
        stop(3),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

#[tokio::test]
async fn thinking_is_kept_with_its_signature_and_its_place() {
    let response = ask(events(&streamed()), true).await.result.unwrap();

    let mut expected = thoughtful();
    let thinking = r#"{"type":"thinking","thinking":"Hm. Ah.","signature":"c2ln"}"#;
    thinking.clone_into(&mut expected.opaque[0].json);
    assert_eq!(response.message, expected);
    assert_eq!(response.finish_reason, FinishReason::ToolCalls);
}

// US-1
#[tokio::test]
async fn what_was_cached_is_a_part_of_the_input() {
    let response = ask(events(&streamed()), true).await.result.unwrap();

    let usage = response.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (30, 9));
    assert_eq!(usage.total_tokens, 39);
    assert_eq!(usage.cached_input_tokens, 20);
    assert_eq!(usage.cache_write_input_tokens, 7);
}

#[tokio::test]
async fn a_plain_answer_keeps_signed_blocks_byte_for_byte() {
    let signed = r#"{"type": "thinking",  "thinking": "H\u006d", "signature": "c2ln", "more": 1}"#;
    let body = format!(
        r#"{{"type":"message","content":[{signed},{{"type":"text","text":"Yes."}}],"stop_reason":"end_turn"}}"#
    );

    let response = ask(Answer::json(body), false).await.result.unwrap();

    assert_eq!(response.message.opaque[0].json, signed);
    assert_eq!(response.message.reasoning.as_deref(), Some("Hm"));
    assert_eq!(response.message.text, "Yes.");
}

#[tokio::test]
async fn thinking_without_a_signature_is_told_and_kept_without_one() {
    let answer = events(&[
        usage(&json!({})),
        start(0, &json!({"type": "thinking", "thinking": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Hm."})),
        stop(0),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    ]);

    let message = ask(answer, true).await.result.unwrap().message;

    assert_eq!(message.reasoning.as_deref(), Some("Hm."));
    let kept: Value = serde_json::from_str(&message.opaque[0].json).unwrap();
    assert_eq!(kept, json!({"type": "thinking", "thinking": "Hm."}));
}

#[tokio::test]
async fn a_tool_of_the_server_is_kept_with_its_input_and_is_no_call_of_ours() {
    let search = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}});
    let answer = events(&[
        usage(&json!({})),
        start(0, &search),
        delta(
            0,
            &json!({"type": "input_json_delta", "partial_json": "{\"q\":1}"}),
        ),
        stop(0),
        start(
            1,
            &json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}),
        ),
        stop(1),
        start(2, &json!({"type": "text", "text": "Found."})),
        stop(2),
        json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn"}}),
        json!({"type": "message_stop"}),
    ]);

    let response = ask(answer, true).await.result.unwrap();

    assert!(response.message.tool_calls.is_empty());
    assert_eq!(
        response.finish_reason,
        FinishReason::Other("pause_turn".to_owned())
    );
    let kept: Vec<&str> = response
        .message
        .opaque
        .iter()
        .map(|part| &*part.json)
        .collect();
    assert_eq!(
        kept,
        [
            r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1}}"#,
            r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#,
        ]
    );
}

#[tokio::test]
async fn missing_and_repeated_ids_are_made_different() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "a", "input": {"x": 1}});
    let body = json!({"content": [call(""), call("c"), call("c")], "stop_reason": "tool_use"});

    let response = ask(Answer::json(body.to_string()), false)
        .await
        .result
        .unwrap();

    let calls = response.message.tool_calls;
    assert!(calls.iter().all(|call| call.arguments() == r#"{"x":1}"#));
    assert_eq!(calls[1].id(), "c");
    assert!(!calls[0].id().is_empty() && calls[2].id() != "c" && calls[0].id() != calls[2].id());
}

#[tokio::test]
async fn every_stop_reason_is_told() {
    for (word, reason) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("novel", FinishReason::Other("novel".to_owned())),
    ] {
        let body = json!({"content": [{"type": "text", "text": "x"}], "stop_reason": word});
        let response = ask(Answer::json(body.to_string()), false)
            .await
            .result
            .unwrap();
        assert_eq!(response.finish_reason, reason);
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_truncated_and_releases_no_call() {
    let all = streamed();
    // Without the two last events nobody said that the answer is over.
    let outcome = ask(events(&all[..all.len() - 2]), true).await;

    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::StreamTruncated);
    assert!(error.is_retryable());
    assert_eq!(outcome.handed_out.calls, 0);
    assert_eq!(outcome.handed_out.text, "I look.");

    let whole = ask(events(&all[..all.len() - 1]), true).await;
    assert!(whole.result.is_ok());
    let nothing = ask(Answer::events(""), true).await.result.unwrap_err();
    assert_eq!(nothing.kind(), ModelErrorKind::EmptyResponse);
}
