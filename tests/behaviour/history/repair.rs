//! Histories that another program kept, and histories cut short.

use agent_core::Message;
use agent_core::message::{AssistantMessage, Repair, ToolCall, ToolResult, Transcript};

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::new(id, name, "{}")
}

fn calls(calls: &[&ToolCall]) -> Message {
    let calls = calls.iter().map(|call| (*call).clone()).collect();
    AssistantMessage::new("", None, calls).into()
}

fn result(call: &ToolCall, text: &str) -> ToolResult {
    ToolResult::ok(call, vec![text.into()])
}

/// Whether calls and results are those of a valid history.
fn assert_pairs(transcript: &Transcript) {
    assert!(transcript.is_closed());
    let again = Transcript::from_messages(transcript.messages().to_vec()).unwrap();
    assert!(again.is_closed());
}

// hp-03
#[test]
fn a_call_without_result_is_told_to_be_cancelled() {
    let (fast, slow) = (call("c1", "fast"), call("c2", "slow"));

    let (transcript, repairs) = Transcript::repaired([
        Message::user("go"),
        calls(&[&fast, &slow]),
        Message::tool(vec![result(&fast, "done")]),
        Message::user("never mind"),
    ]);

    assert_pairs(&transcript);
    let results = transcript.messages()[2].tool_results();
    assert_eq!(results[0], result(&fast, "done"));
    assert!(results[1].is_error() && results[1].text().contains("cancel"));
    let call_id = "c2".to_owned();
    assert_eq!(repairs, [Repair::Dangling { call_id }]);
}

#[test]
fn results_without_a_call_and_second_results_are_left_out() {
    let one = call("c1", "x");

    let (transcript, repairs) = Transcript::repaired([
        Message::tool(vec![result(&call("c0", "x"), "lost")]),
        calls(&[&one]),
        Message::tool(vec![result(&one, "first"), result(&one, "second")]),
        Message::tool(vec![result(&one, "third")]),
    ]);

    assert_pairs(&transcript);
    assert_eq!(transcript.len(), 2);
    assert_eq!(transcript.messages()[1].text(), "first");
    let orphan = |call_id: &str| Repair::Orphan {
        call_id: call_id.to_owned(),
    };
    assert_eq!(repairs, [orphan("c0"), orphan("c1"), orphan("c1")]);
}

#[test]
fn two_calls_of_one_id_are_told_apart_with_their_results() {
    let (one, other) = (call("c", "x"), call("c", "y"));

    let (transcript, repairs) = Transcript::repaired([
        calls(&[&one, &other]),
        Message::tool(vec![result(&one, "1"), result(&other, "2")]),
    ]);

    assert_pairs(&transcript);
    let ids: Vec<&str> = transcript.messages()[0]
        .tool_calls()
        .iter()
        .map(|it| it.id())
        .collect();
    assert_eq!(ids, ["c", "c_2"]);
    let texts: Vec<String> = transcript.messages()[1]
        .tool_results()
        .iter()
        .map(ToolResult::text)
        .collect();
    assert_eq!(texts, ["1", "2"]);
    let call_id = "c".to_owned();
    assert_eq!(repairs, [Repair::DuplicateCall { call_id }]);
}

#[test]
fn a_sound_history_is_kept_as_it_is() {
    let one = call("c1", "x");
    let messages = [
        Message::user("q"),
        calls(&[&one]),
        Message::tool(vec![result(&one, "1")]),
    ];

    let (transcript, repairs) = Transcript::repaired(messages.clone());

    assert_eq!(transcript.messages(), messages);
    assert!(repairs.is_empty());
}

// hp-05
#[test]
fn a_history_that_is_trimmed_keeps_its_system_message_and_whole_groups() {
    let one = call("c1", "x");
    let mut transcript = Transcript::from_messages([
        Message::system("S"),
        Message::user("long"),
        calls(&[&one]),
        Message::tool(vec![result(&one, "R")]),
        Message::assistant("ok"),
        Message::user("next"),
    ])
    .unwrap();

    transcript.keep_last(3);

    assert_pairs(&transcript);
    let texts: Vec<String> = transcript.messages().iter().map(Message::text).collect();
    assert_eq!(texts, ["S", "ok", "next"]);
}

// hp-07
#[test]
fn a_summary_takes_the_place_of_whole_groups() {
    let (one, other) = (call("c1", "x"), call("c2", "y"));
    let mut transcript = Transcript::from_messages([
        Message::user("1"),
        calls(&[&one]),
        Message::tool(vec![result(&one, "a")]),
        calls(&[&other]),
        Message::tool(vec![result(&other, "b")]),
        Message::user("2"),
    ])
    .unwrap();

    let summary = Message::user("Summary.");
    transcript.summarize_first(4, summary).unwrap();

    assert_pairs(&transcript);
    let texts: Vec<String> = transcript.messages().iter().map(Message::text).collect();
    assert_eq!(texts, ["Summary.", "", "b", "2"]);
}

#[test]
fn a_summary_that_breaks_the_history_is_refused_and_loses_nothing() {
    let (one, lost) = (call("c1", "x"), call("c2", "y"));
    let messages = [Message::user("1"), Message::user("2"), calls(&[&one])];
    let mut transcript = Transcript::from_messages(messages).unwrap();
    let before = transcript.messages().to_vec();

    for summary in [calls(&[&lost]), Message::tool(vec![result(&lost, "b")])] {
        assert!(transcript.summarize_first(1, summary).is_err());
        assert_eq!(transcript.messages(), before);
    }
}

#[test]
fn results_of_a_group_that_is_still_open_survive_trimming() {
    let (one, other) = (call("c1", "x"), call("c2", "y"));
    let mut transcript =
        Transcript::from_messages([Message::user("q"), calls(&[&one, &other])]).unwrap();
    transcript.answer(result(&other, "2")).unwrap();

    transcript.keep_last(1);

    assert_eq!(transcript.len(), 1);
    assert_eq!(transcript.open_calls().count(), 1);
    assert_eq!(transcript.partial_results().count(), 1);
}
