//! How answers are put together from their pieces.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::stream::Assembler;
use crate::id::FEW;
use crate::model::reading::Assembler as _;
use crate::model::reading::ready::Ready;
use crate::model::{Accumulator, ChatResponse, ModelDelta, ModelError, ModelErrorKind};

fn chunk(delta: &Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta}]}).to_string()
}

fn read(chunks: &[String]) -> Result<ChatResponse, ModelError> {
    let mut assembler = Assembler::default();
    let mut ready = Ready::default();
    let mut accumulator = Accumulator::new();
    for chunk in chunks {
        assembler.event(chunk, &mut ready)?;
        while let Some(delta) = ready.next() {
            let is_call = matches!(delta, ModelDelta::ToolCall(_));
            assert!(!is_call, "a call before the end");
            accumulator.push(delta);
        }
    }
    assembler.event("[DONE]", &mut ready)?;
    while let Some(delta) = ready.next() {
        accumulator.push(delta);
    }
    accumulator.finish()
}

/// The names and arguments of the calls these fragments become.
fn calls(fragments: &[Value]) -> Vec<(String, String)> {
    let chunks: Vec<String> = fragments
        .iter()
        .map(|fragment| chunk(&json!({"tool_calls": [fragment]})))
        .collect();
    let calls = read(&chunks).unwrap().message.tool_calls;
    let ids: HashSet<&str> = calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids.len(), calls.len(), "ids meet");
    assert!(!ids.contains(""));
    calls
        .into_iter()
        .map(|call| (call.name.into(), call.arguments.into()))
        .collect()
}

fn owned(calls: &[(&str, &str)]) -> Vec<(String, String)> {
    calls
        .iter()
        .map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned()))
        .collect()
}

fn function(name: &str, arguments: &str) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[test]
fn fragments_without_id_and_index_go_on_until_a_call_is_whole() {
    let fragments = [
        json!({"function": function("a", "{\"x\"")}),
        json!({"function": function("", ":1}")}),
        json!({"function": function("a", "{\"x\":2}")}),
    ];

    assert_eq!(
        calls(&fragments),
        owned(&[("a", r#"{"x":1}"#), ("a", r#"{"x":2}"#)])
    );
}

#[test]
fn a_late_id_belongs_to_the_call_that_waits_for_one() {
    let fragments = [
        json!({"index": 0, "function": function("a", "{")}),
        json!({"index": 0, "id": "c1", "function": function("", "}")}),
    ];

    assert_eq!(calls(&fragments), owned(&[("a", "{}")]));
}

#[test]
fn two_calls_with_one_id_stay_two() {
    let fragments = [
        json!({"index": 0, "id": "c", "function": function("a", "{}")}),
        json!({"index": 1, "id": "c", "function": function("b", "{}")}),
    ];

    assert_eq!(calls(&fragments), owned(&[("a", "{}"), ("b", "{}")]));
}

#[test]
fn behind_many_calls_the_pieces_of_others_are_found_alike() {
    let whole = |index: u64| json!({"index": index, "id": format!("d{index}"), "function": function("d", "{}")});
    let pieces = [
        json!({"index": 0, "function": function("a", "{\"x\"")}),
        json!({"index": 1, "id": "c", "function": function("b", "")}),
        json!({"index": 0, "id": "late", "function": function("", ":1}")}),
        json!({"id": "e", "function": function("e", "")}),
        json!({"index": 1, "id": "c", "function": function("b", "{}")}),
        json!({"index": 2, "id": "c", "function": function("f", "{")}),
        json!({"id": "e", "function": function("", "{}")}),
        json!({"index": 2, "function": function("", "}")}),
        json!({"id": "c", "function": function("g", "{")}),
        json!({"index": 7, "function": function("", "}")}),
    ];

    let alone = calls(&pieces);
    for count in [1, FEW as u64, 2 * FEW as u64] {
        let others: Vec<Value> = (10..10 + count).map(whole).collect();
        let all = calls(&[&others[..], &pieces].concat());
        assert_eq!(all[others.len()..], alone);
    }
}

#[test]
fn a_name_may_grow() {
    let fragments = [
        json!({"index": 0, "id": "c", "function": function("get_", "")}),
        json!({"index": 0, "id": "c", "function": function("get_time", "{}")}),
    ];

    assert_eq!(calls(&fragments), owned(&[("get_time", "{}")]));
}

#[test]
fn what_is_not_understood_is_read_over() {
    for odd in [
        json!({"tool_calls": {"0": {}}, "content": "ok"}),
        json!({"tool_calls": [null, 7, [], {"function": "x"}, {"index": -1}], "content": "ok"}),
        json!({"content": [{"type": "text", "text": "ok"}, 7, null], "tool_calls": ""}),
        json!({"content": "ok", "reasoning": {"a": 1}, "audio": []}),
    ] {
        let response = read(&[chunk(&odd), r#"{"type":"ping"}"#.to_owned()]).unwrap();
        assert_eq!(response.message.text, "ok", "{odd}");
        assert!(response.message.tool_calls.is_empty(), "{odd}");
    }
}

#[test]
fn a_message_that_a_stream_came_to_is_not_said_again() {
    let whole = |message: Value| json!({"choices": [{"message": message}]}).to_string();
    let chunks = [
        chunk(&json!({"reasoning_content": "a"})),
        whole(json!({"reasoning_content": "ab"})),
        chunk(&json!({"content": "c"})),
        whole(json!({"reasoning_content": "ab", "content": "cd"})),
    ];

    let message = read(&chunks).unwrap().message;
    assert_eq!(message.reasoning.as_deref(), Some("ab"));
    assert_eq!(message.text, "cd");
}

#[test]
fn a_key_that_stands_twice_does_not_hide_the_text() {
    let twice = r#"{"choices":[{"index":0,"index":0,"delta":{"content":"ok"}}]}"#;

    assert_eq!(read(&[twice.to_owned()]).unwrap().message.text, "ok");
}

#[test]
fn what_is_no_json_is_an_error_without_the_text() {
    let error = read(&["{\"choices\": [secret".to_owned()]).unwrap_err();

    assert_eq!(error.kind(), ModelErrorKind::Decode);
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn a_chunk_that_breaks_off_says_nothing() {
    let (mut assembler, mut ready) = (Assembler::default(), Ready::default());
    let whole = chunk(&json!({"content": "a"}));

    assembler.event(&whole, &mut ready).unwrap();
    let broken = &whole[..whole.len() - 1];
    assert!(assembler.event(broken, &mut ready).is_err());
    assert_eq!(ready.next(), Some(ModelDelta::Text("a".to_owned())));
    assert_eq!(ready.next(), None);
}

#[test]
fn chunks_that_begin_alike_are_read_to_their_ends() {
    let chunk = |head: &str, text: &str, end: &str| {
        format!(r#"{{{head}"choices":[{{"delta":{{"content":"{text}"}}}}]{end}}}"#)
    };
    let usage = |count: u64| format!(r#""usage":{{"prompt_tokens":{count}}}"#);
    let chunks = [
        chunk(r#""id":"x","#, "a", ""),
        chunk(r#""id":"x","#, "b", &format!(",{}", usage(1))),
        chunk(r#""id":"y","#, "c", ""),
        r#"{"id":"y","choices":null}"#.to_owned(),
        chunk(&format!("{},", usage(2)), "d", ""),
        chunk(&format!("{},", usage(2)), "e", &format!(",{}", usage(3))),
        chunk(&format!("{},", usage(2)), "f", ""),
        chunk("", "g", ""),
    ];

    let response = read(&chunks).unwrap();
    assert_eq!(response.message.text, "abcdefg");
    assert_eq!(response.usage.unwrap().input_tokens, 2);
}
