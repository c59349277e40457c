//! What servers send is read alike however it is cut: every wire case of `tests/fixtures/cases`
//! (a file added there needs no code here), and answers that are made up.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use agent_core::model;
use agent_tests::wire;
use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

// B8, B13, E4
#[tokio::test]
async fn every_case_is_read_as_its_file_says_however_it_is_cut() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut faults = Vec::new();
    let found = wire::folder(&folder).expect("the cases are there");
    let count = found.cases.len();
    assert!(count >= 65, "only {count} cases");
    assert_eq!(found.passed_over, [("README.md".to_owned(), "no `.json`")]);
    for (name, case) in found.cases {
        let found = wire::faults(&case).await;
        faults.extend(found.into_iter().map(|why| format!("{name}: {why}")));
    }

    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn a_file_that_cannot_be_read_is_a_case_that_fails_and_one_that_holds_none_is_named() {
    let folder = std::env::temp_dir().join(format!("wire-cases-{}", std::process::id()));
    fs::create_dir_all(folder.join("folder.json")).unwrap();
    let good = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    let case = json!({"protocol": "openai-chat", "body": good, "expect": {"text": "Hi"}});
    let with = |key: &str, value: Value| {
        let mut case = case.clone();
        case[key] = value;
        case.to_string()
    };
    for (name, text) in [
        ("bare", with("expect", Value::Null)),
        (
            "calls",
            with("expect", json!({"text": "Hi", "tool_calls": "x"})),
        ),
        ("cut", r#"{"protocol": "open"#.to_owned()),
        ("good", case.to_string()),
        ("other", r#"{"kind": "execution"}"#.to_owned()),
        ("others", with("also_acceptable", json!({"text": "Hi"}))),
        ("status", with("http", json!({"status": "200"}))),
        ("stream", with("stream", json!("true"))),
    ] {
        fs::write(folder.join(name).with_extension("json"), text).unwrap();
    }
    fs::write(folder.join("notes.txt"), "Not a case.").unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("lost.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("endless.json")).unwrap();

    let program = env!("CARGO_BIN_EXE_wire-cases");
    let run = Command::new(program).arg(&folder).output().unwrap();

    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(run.status.code(), Some(1));
    expect![[r#"
        folder.json: passed over: a folder
        notes.txt: passed over: no `.json`
        other.json: passed over: no `protocol`
        bare: the case expects nothing (0 more)
        calls: `expect.tool_calls` is not a list of objects (0 more)
        cut: the file is no JSON: EOF while parsing a string at line 1 column 18 (0 more)
        endless: this is no file (0 more)
        lost: No such file or directory (os error 2) (0 more)
        others: `also_acceptable` is not a list of objects (0 more)
        status: `http.status` is not a number (0 more)
        stream: `stream` is not true or false (0 more)
        1 passed, 8 failed
    "#]]
    .assert_eq(&String::from_utf8(run.stdout).unwrap());
}

/// An answer, as it is meant.
#[derive(Debug, Clone)]
struct Meant {
    text: String,
    reasoning: String,
    /// Names and arguments.
    calls: Vec<(String, String)>,
}

fn meant() -> impl Strategy<Value = Meant> {
    let text = || "[a-c\"\\\\\n é\u{1F600}]{0,12}";
    let arguments = prop::collection::btree_map("[a-c]", text(), 0..3);
    let call = ("[a-z_]{1,8}", arguments).prop_map(|(name, arguments)| {
        (name, serde_json::to_string(&arguments).unwrap_or_default())
    });
    (text(), text(), prop::collection::vec(call, 0..4)).prop_map(|(text, reasoning, calls)| Meant {
        text,
        reasoning,
        calls,
    })
}

/// The text in pieces of these sizes.
fn cut<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let end = rest
            .char_indices()
            .nth(*size)
            .map_or(rest.len(), |(at, _)| at);
        let (piece, behind) = rest.split_at(end);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

fn openai(answer: &Meant, sizes: &[usize]) -> (String, String) {
    let reason = if answer.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7});
    let calls = answer
        .calls
        .iter()
        .enumerate()
        .map(|(position, (name, arguments))| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"id": format!("c{position}"), "type": "function", "function": function})
        });
    let message = json!({
        "content": answer.text, "reasoning_content": answer.reasoning,
        "tool_calls": calls.clone().collect::<Vec<_>>(),
    });
    let plain = json!({"choices": [{"message": message, "finish_reason": reason}], "usage": usage});
    let mut deltas = Vec::new();
    deltas.extend(
        cut(&answer.reasoning, sizes)
            .into_iter()
            .map(|it| json!({"reasoning_content": it})),
    );
    deltas.extend(
        cut(&answer.text, sizes)
            .into_iter()
            .map(|it| json!({"content": it})),
    );
    for (position, mut call) in calls.enumerate() {
        let arguments = answer.calls[position].1.as_str();
        call["index"] = position.into();
        call["function"]["arguments"] = "".into();
        deltas.push(json!({"tool_calls": [call]}));
        deltas.extend(cut(arguments, sizes).into_iter().map(
            |piece| json!({"tool_calls": [{"index": position, "function": {"arguments": piece}}]}),
        ));
    }
    let mut chunks: Vec<Value> = deltas
        .into_iter()
        .map(|delta| json!({"choices": [{"index": 0, "delta": delta}]}))
        .collect();
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    chunks.push(json!({"choices": [], "usage": usage}));
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    (
        plain.to_string(),
        events.chain(["data: [DONE]\n\n".to_owned()]).collect(),
    )
}

fn anthropic(answer: &Meant, sizes: &[usize]) -> (String, String) {
    let reason = if answer.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let mut blocks = Vec::new();
    let mut events = vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}}),
    ];
    let mut block = |whole: Value, empty: Value, key: &str, pieces: Vec<Value>| {
        let index = blocks.len();
        blocks.push(whole);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.extend(pieces.into_iter().map(|mut delta| {
            delta["type"] = key.into();
            json!({"type": "content_block_delta", "index": index, "delta": delta})
        }));
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    if !answer.reasoning.is_empty() {
        let mut pieces: Vec<Value> = Vec::new();
        pieces.extend(
            cut(&answer.reasoning, sizes)
                .into_iter()
                .map(|it| json!({"thinking": it})),
        );
        block(
            json!({"type": "thinking", "thinking": answer.reasoning}),
            json!({"type": "thinking", "thinking": ""}),
            "thinking_delta",
            pieces,
        );
    }
    let pieces = cut(&answer.text, sizes)
        .into_iter()
        .map(|it| json!({"text": it}))
        .collect();
    block(
        json!({"type": "text", "text": answer.text}),
        json!({"type": "text", "text": ""}),
        "text_delta",
        pieces,
    );
    for (position, (name, arguments)) in answer.calls.iter().enumerate() {
        let input: Value = serde_json::from_str(arguments).unwrap_or_default();
        let call = |input: &Value| json!({"type": "tool_use", "id": format!("c{position}"), "name": name, "input": input});
        let pieces = cut(arguments, sizes)
            .into_iter()
            .map(|it| json!({"partial_json": it}))
            .collect();
        block(call(&input), call(&json!({})), "input_json_delta", pieces);
    }
    let usage = json!({"input_tokens": 3, "output_tokens": 4});
    let plain =
        json!({"type": "message", "content": blocks, "stop_reason": reason, "usage": usage});
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 4}}));
    events.push(json!({"type": "message_stop"}));
    let events = events
        .iter()
        .map(|event| format!("event: e\ndata: {event}\n\n"));
    (plain.to_string(), events.collect())
}

proptest! {
    // B8, E4
    #[test]
    fn a_stream_says_what_the_plain_answer_says(
        answer in meant(),
        sizes in prop::collection::vec(1_usize..5, 1..4),
        bytes in 1_usize..40,
    ) {
        let (plain, stream) = openai(&answer, &sizes);
        let whole = model::openai::read_answer([&plain]).unwrap();
        let folded = model::openai::read_answer(stream.as_bytes().chunks(bytes)).unwrap();
        prop_assert_eq!(&folded, &whole);
        prop_assert_eq!(&whole.message.text, &answer.text);

        let (plain, stream) = anthropic(&answer, &sizes);
        let whole = model::anthropic::read_answer([&plain]).unwrap();
        let folded = model::anthropic::read_answer(stream.as_bytes().chunks(bytes)).unwrap();
        prop_assert_eq!(&folded, &whole);
        let calls: Vec<&str> = whole.message.tool_calls.iter().map(|call| call.name()).collect();
        let names: Vec<String> = answer.calls.into_iter().map(|(name, _)| name).collect();
        prop_assert_eq!(calls, names);
    }
}
