//! The format: what it looks like, what it refuses, and that everything comes back.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::format::{self, Unreadable};
use super::record::{Asked, Branch, Entry, Frontier, Note, Record};
use super::same::{after, anew, since, taken};
use super::step::Step;
use crate::message::{
    AssistantMessage, ContentPart, Image, InvalidArguments, Message, MessageBody, MessageId,
    ToolCall, ToolResult,
};
use crate::state::delta::{Change, StateDelta};
use crate::state::{KeyStrategies, KeyStrategy, State, StateUpdate};

const GOLDEN_CHECKPOINT: &str = include_str!("golden/checkpoint-1.json");
const GOLDEN_SAME: &str = include_str!("golden/checkpoint-1-same.json");
const GOLDEN_WRITES: &str = include_str!("golden/writes-1.jsonl");

fn message(id: &str, body: MessageBody) -> Message {
    Message::with_id(MessageId::new(id), body)
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, "pay", arguments)
}

/// Messages of every kind, with what is hard to keep. // cp-13
fn messages() -> Vec<Message> {
    let mut extra = call("c2", r#"{"sum": 18446744073709551615}"#);
    extra.extra.insert("signature".to_owned(), json!("abc=="));
    let mut invalid = call("c3", r#"{"sum": 1"#);
    invalid.invalid = Some(InvalidArguments::Truncated);
    let calls = vec![call("c1", "{}"), extra.clone(), invalid.clone()];
    let png = Image::new("image/png", vec![0_u8, 255, 1]);
    vec![
        message("s1", MessageBody::System("Be kind.".to_owned())),
        message(
            "u1",
            MessageBody::User(vec!["crab \u{1f980} and NUL \0".into(), png.clone().into()]),
        ),
        message(
            "a1",
            MessageBody::Assistant(AssistantMessage::new("", Some("hm".to_owned()), calls)),
        ),
        message(
            "a1:results",
            MessageBody::Tool(vec![
                ToolResult::ok(&call("c1", "{}"), vec![png.into(), "done".into()]),
                ToolResult::error(&extra, "Error: no"),
                ToolResult::error(&invalid, "Error: not run"),
            ]),
        ),
    ]
}

fn asked(id: &str) -> Asked {
    Asked {
        id: id.to_owned(),
        node: "tools".to_owned(),
        key: "c1".to_owned(),
        payload: json!({"ask": "Pay?"}),
        about: json!({"tool": "pay"}),
        is_breakpoint: false,
    }
}

fn update() -> StateUpdate {
    StateUpdate::new()
        .put("log", json!(["a"]))
        .remove("old")
        .replace_all("list", vec![json!(1)])
        .remove_item("list", Value::Null)
        .message(message("u2", MessageBody::User(vec!["More.".into()])))
        .answer(ToolResult::ok(&call("c9", "{}"), vec!["9".into()]))
        .remove_message(MessageId::new("u0"))
        .replace_messages(Vec::new())
}

fn entries() -> Vec<Entry> {
    vec![
        Entry::Answer {
            id: "i1".to_owned(),
            value: Value::Null,
            is_read: false,
        },
        Entry::Note(Note {
            node: "tools".to_owned(),
            key: "c1".to_owned(),
            value: json!("started"),
            update: None,
        }),
        Entry::Note(Note {
            node: "tools".to_owned(),
            key: "c1".to_owned(),
            value: Value::Null,
            update: Some(update()),
        }),
        Entry::Ended {
            path: "plan>1".to_owned(),
            node: "worker".to_owned(),
            update: update(),
            next: Some(Frontier::Node("check".to_owned())),
            interrupts: vec![asked("i2").into()],
        },
    ]
}

fn record() -> Record {
    let mut changes = vec![
        Change::Set("n".into(), json!(18_446_744_073_709_551_615_u64).into()),
        Change::Extend("log".into(), vec![json!("b"), Value::Null]),
        Change::Merge("facts".into(), json!({"a": {"b": -1.5}})),
        Change::Remove("gone".into()),
        Change::ReplaceMessages(Vec::new()),
        Change::RemoveMessage(MessageId::new("u0")),
        Change::EditCall("c0".to_owned(), "{}".to_owned()),
    ];
    changes.extend(messages().into_iter().map(Change::Push));
    changes.push(Change::Answer(ToolResult::ok(
        &call("c4", "{}"),
        vec![ContentPart::from("4")],
    )));
    Record {
        step: 7,
        created: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
        ran: vec!["model".to_owned(), "tools".to_owned()],
        next: Some(Frontier::Branches {
            from: "plan".to_owned(),
            branches: vec![
                Branch {
                    node: "worker".to_owned(),
                    input: Some(StateUpdate::new().put("item", json!(3))),
                },
                Branch {
                    node: "other".to_owned(),
                    input: None,
                },
            ],
            join: "collect".to_owned(),
        }),
        delta: StateDelta(changes),
        interrupts: anew([
            asked("i1").into(),
            Arc::new(Asked {
                about: Value::Null,
                is_breakpoint: true,
                ..asked("i3")
            }),
        ]),
        journal: anew(entries()),
        effects: vec!["pay".to_owned()],
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_checkpoint_is_written_as_the_golden_file_of_its_format_says() {
    // CK-7
    let written = text(format::write_checkpoint(&record()).unwrap());

    assert_eq!(written, GOLDEN_CHECKPOINT.trim_end());
    assert!(written.starts_with(&format!(r#"{{"format":{},"#, format::VERSION)));
}

#[test]
fn what_is_as_it_was_at_the_parent_is_written_as_its_places() {
    let parent = read_lists(&[GOLDEN_CHECKPOINT]);
    let new = Arc::new(Asked {
        key: "c4".to_owned(),
        payload: json!("Pay?"),
        about: Value::Null,
        ..asked("i4")
    });
    let [first, second] = [&parent[0], &parent[1]].map(Arc::clone);
    let now = vec![second, new, first];
    let mut journal: Vec<_> = (0..3).map(|place| (None, Some(place))).collect();
    journal.push((
        Some(Entry::Ended {
            path: "plan>1".to_owned(),
            node: "worker".to_owned(),
            update: StateUpdate::new(),
            next: None,
            interrupts: Vec::new(),
        }),
        None,
    ));
    let step = Step {
        ran: vec!["worker".to_owned()],
        delta: StateDelta::default(),
        next: record().next.unwrap(),
        interrupts: now.clone(),
        effects: Vec::new(),
        stays: true,
    };
    let journal = since(journal.into_iter()).into_iter();
    let journal = journal.map(|item| item.map(Option::unwrap)).collect();
    let created = UNIX_EPOCH + Duration::from_millis(1_700_000_000_456);
    let record = Record {
        created,
        ..step.record(9, Some(&parent), journal)
    };

    let written = text(format::write_checkpoint(&record).unwrap());

    assert_eq!(written, GOLDEN_SAME.trim_end());
    assert_eq!(read_lists(&[GOLDEN_CHECKPOINT, GOLDEN_SAME]), now);
}

/// What is asked behind these checkpoints.
fn read_lists(chain: &[&str]) -> Vec<Arc<Asked>> {
    let (mut all, mut list) = (Vec::new(), Vec::new());
    for text in chain {
        let record = format::read_checkpoint(text.trim_end().as_bytes()).unwrap();
        list = after(&mut all, &list, record.interrupts).unwrap();
    }
    taken(all, list).unwrap()
}

#[test]
fn writes_are_written_as_the_golden_file_of_their_format_says() {
    let written: Vec<String> = entries()
        .iter()
        .map(|entry| text(format::write_entry(entry).unwrap()))
        .collect();

    assert_eq!(written.join("\n"), GOLDEN_WRITES.trim_end());
}

#[test]
fn what_is_read_is_written_again_byte_for_byte() {
    // cp-13
    let read = format::read_checkpoint(GOLDEN_CHECKPOINT.trim_end().as_bytes()).unwrap();
    assert_eq!(read.delta, record().delta);
    assert_eq!(
        text(format::write_checkpoint(&read).unwrap()),
        GOLDEN_CHECKPOINT.trim_end()
    );

    for line in GOLDEN_WRITES.lines() {
        let entry = format::read_entry(line.as_bytes()).unwrap();
        assert_eq!(text(format::write_entry(&entry).unwrap()), line);
    }
}

#[test]
fn a_newer_format_is_told_by_its_number_whatever_else_it_holds() {
    // CK-7
    let newer = br#"{"format":2,"blob":[1,2,3]}"#;

    let error = format::read_checkpoint(newer).unwrap_err();
    assert!(matches!(error, Unreadable::Version(2)), "{error:?}");
}

#[test]
fn unknown_tags_and_members_are_refused_anywhere() {
    // CK-7
    for (known, unknown) in [
        (r#""set":["#, r#""sett":["#),
        (r#""step":7"#, r#""step":7,"stepp":8"#),
        (r#""user":["#, r#""guest":["#),
        (r#""text":"done""#, r#""speech":"done""#),
        (r#""is_error":false"#, r#""is_error":false,"is_final":true"#),
        (r#""invalid":"truncated""#, r#""invalid":"too_long""#),
        (
            r#""node":"worker","input""#,
            r#""node":"worker","weight":1,"input""#,
        ),
        (r#""next":{"branches""#, r#""next":{"races""#),
        (r#""answer":{"id""#, r#""reply":{"id""#),
        (r#"{"format":1,"#, r#"{"format":1,"extra":0,"#),
        (r#""checkpoint":"#, r#""snapshot":"#),
    ] {
        assert!(GOLDEN_CHECKPOINT.contains(known), "{known}");
        let changed = GOLDEN_CHECKPOINT.replacen(known, unknown, 1);

        let error = format::read_checkpoint(changed.as_bytes()).unwrap_err();
        assert!(matches!(error, Unreadable::Malformed(_)), "{unknown}");
    }
}

#[test]
fn a_text_that_was_cut_anywhere_is_refused() {
    for whole in [GOLDEN_CHECKPOINT, GOLDEN_SAME] {
        let whole = whole.trim_end().as_bytes();
        for length in 0..whole.len() {
            let cut = format::read_checkpoint(&whole[..length]);
            assert!(cut.is_err(), "{length}");
        }
    }
}

#[test]
fn what_an_update_did_is_done_again_without_its_strategies() {
    let strategies = KeyStrategies::new()
        .with("log", KeyStrategy::Append)
        .with("seen", KeyStrategy::AppendDistinct)
        .with("facts", KeyStrategy::Merge)
        .with(
            "sum",
            KeyStrategy::custom(|old, new| {
                let old = old.and_then(Value::as_i64).unwrap_or(0);
                Ok(json!(old + new.as_i64().unwrap_or(0)))
            }),
        );
    let mut state = State::new();
    let mut again = State::new();
    let question = Message::user("Pay?");
    let id = question.id().clone();
    let calls = vec![call("c1", "{}"), call("c2", "{}")];
    let updates = [
        StateUpdate::new()
            .put("log", json!("a"))
            .put("sum", json!(1)),
        StateUpdate::new()
            .put("log", json!(["b", "c"]))
            .put("log", json!([])),
        StateUpdate::new().put("facts", json!({"a": 1, "b": {"c": 2}})),
        StateUpdate::new()
            .put("facts", json!({"a": null, "b": {"d": 3}}))
            .put("sum", json!(2)),
        StateUpdate::new()
            .put("seen", json!(["x", "x"]))
            .put("seen", json!("y")),
        StateUpdate::new()
            .put("seen", json!(["y", "z"]))
            .put("plain", Value::Null),
        StateUpdate::new()
            .remove("plain")
            .remove_item("log", json!("b")),
        StateUpdate::new()
            .put("log", json!("d"))
            .replace_all("log", vec![json!("e")]),
        StateUpdate::new().message(question),
        StateUpdate::new().message(AssistantMessage::new("", None, calls.clone()).into()),
        StateUpdate::new().answer(ToolResult::ok(&calls[1], vec!["2".into()])),
        StateUpdate::new().answer(ToolResult::ok(&calls[0], vec!["1".into()])),
        StateUpdate::new()
            .message(Message::assistant("Paid."))
            .remove_message(id),
    ];
    for update in updates {
        let delta = strategies.apply_recorded(&mut state, update).unwrap();
        let before = again.clone();
        delta.apply(&mut again).unwrap();
        drop(before);

        assert_eq!(again, state);
    }
    let mut whole = State::new();
    StateDelta::whole(&state).apply(&mut whole).unwrap();
    assert_eq!(whole, state);
}

#[test]
fn what_is_added_to_a_long_list_is_written_short() {
    let strategies = KeyStrategies::new()
        .with("log", KeyStrategy::Append)
        .with("facts", KeyStrategy::Merge);
    let long: Vec<Value> = (0..1000).map(Value::from).collect();
    let facts: Value = (0..1000)
        .map(|n| (format!("k{n}"), Value::from(n)))
        .collect();
    let mut state = State::new();
    let first = StateUpdate::new()
        .put("log", long.into())
        .put("facts", facts);
    strategies.apply(&mut state, first).unwrap();

    let more = StateUpdate::new()
        .put("log", json!("one more"))
        .put("facts", json!({"k7": 8}));
    let delta = strategies.apply_recorded(&mut state, more).unwrap();

    assert_eq!(
        delta.0,
        [
            Change::Merge("facts".into(), json!({"k7": 8})),
            Change::Extend("log".into(), vec![json!("one more")]),
        ]
    );
}
