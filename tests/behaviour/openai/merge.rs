//! How the pieces of a stream become one answer, where they differ from what OpenAI sends.

use agent_core::message::{AssistantMessage, ToolCall};
use agent_core::model::openai::read_answer;
use agent_core::model::{ModelError, ModelErrorKind};

/// The answer that these choices are, one in a chunk.
fn read(choices: &[&str]) -> Result<AssistantMessage, ModelError> {
    let mut text: String = choices
        .iter()
        .map(|choice| format!("data: {{\"choices\":[{choice}]}}\n\n"))
        .collect();
    text += "data: [DONE]\n\n";
    read_answer([text]).map(|response| response.message)
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

// ST-6, sm.1
#[test]
fn pieces_without_an_id_go_on_with_the_call_before_them() {
    let answer = read(&[
        r#"{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"add"}}]}}"#,
        r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1,"}}]}}"#,
        r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"b\":2}"}}]}}"#,
    ]);

    let calls = answer.unwrap().tool_calls;
    assert_eq!(calls, [call("c1", "add", r#"{"a":1,"b":2}"#)]);
}

// ST-7, sm.2
#[test]
fn a_piece_that_repeats_earlier_text_is_kept() {
    let answer = read(&[
        r#"{"delta":{"content":"a","tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"x\":\"a"}}]}}"#,
        r#"{"delta":{"content":"a","tool_calls":[{"index":0,"function":{"arguments":"a"}}]}}"#,
        r#"{"delta":{"content":"a","tool_calls":[{"index":0,"function":{"arguments":"a\"}"}}]}}"#,
    ]);

    let answer = answer.unwrap();
    assert_eq!(answer.text, "aaa");
    assert_eq!(answer.tool_calls, [call("c1", "f", r#"{"x":"aaa"}"#)]);
}

// ST-7, sm.3
#[test]
fn of_snapshots_the_last_is_the_answer() {
    let answer = read(&[
        r#"{"message":{"content":"It","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"x\""}}]}}"#,
        r#"{"message":{"content":"It is","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"x\":1}"}}]}}"#,
    ]);

    let answer = answer.unwrap();
    assert_eq!(answer.text, "It is");
    assert_eq!(answer.tool_calls, [call("c1", "f", r#"{"x":1}"#)]);
}

// ST-8
#[test]
fn a_stream_without_an_answer_and_one_with_an_error_are_errors() {
    assert_eq!(read(&[]).unwrap_err().kind(), ModelErrorKind::EmptyResponse);

    let text = "data: {\"error\":{\"message\":\"boom\"}}\n\ndata: [DONE]\n\n";
    let error = read_answer([text]).unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ProviderError);
}

// ST-10, sm.4
#[test]
fn empty_text_around_calls_ends_nothing() {
    let answer = read(&[
        r#"{"delta":{"content":"I look."}}"#,
        r#"{"delta":{"content":""}}"#,
        r#"{"delta":{"content":"","tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]}}"#,
        r#"{"delta":{"content":""}}"#,
        r#"{"delta":{},"finish_reason":"stop"}"#,
    ]);

    let answer = answer.unwrap();
    assert_eq!(answer.text, "I look.");
    assert_eq!(answer.tool_calls, [call("c1", "f", "{}")]);
}

// ST-11
#[test]
fn reasoning_is_no_text() {
    let answer = read(&[
        r#"{"delta":{"reasoning_content":"I "}}"#,
        r#"{"delta":{"reasoning_content":"look.","content":""}}"#,
        r#"{"delta":{"content":"Cold."}}"#,
    ]);

    let answer = answer.unwrap();
    assert_eq!(answer.reasoning.as_deref(), Some("I look."));
    assert_eq!(answer.text, "Cold.");
}
