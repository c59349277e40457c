//! Histories: calls and results are paired at every moment, whatever is done to them.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use agent_core::Message;
use agent_core::message::{
    AssistantMessage, InvalidArguments, MessageBody, MessageId, ToolCall, ToolResult, Transcript,
    TranscriptError,
};
use agent_core::model::anthropic::PromptCaching;
use agent_core::model::openai::Profile;
use agent_core::model::{Anthropic, ChatRequest, OpenAi};
use proptest::prelude::*;
use serde_json::json;

fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "look", "{}")
}

fn result(id: &str) -> ToolResult {
    ToolResult::ok(&call(id), vec![format!("result of {id}").into()])
}

fn asks(ids: &[&str]) -> Message {
    let calls = ids.iter().map(|id| call(id)).collect();
    AssistantMessage::new("", None, calls).into()
}

fn open(ids: &[&str]) -> Transcript {
    Transcript::from_messages([Message::user("Look."), asks(ids)]).unwrap()
}

fn open_ids(transcript: &Transcript) -> Vec<&str> {
    transcript.open_calls().map(|call| call.id()).collect()
}

fn result_ids(message: &Message) -> Vec<&str> {
    let results = message.tool_results().iter();
    results.map(|result| result.call_id()).collect()
}

// E1
#[test]
fn calls_open_a_group_and_the_last_result_closes_it() {
    let mut transcript = open(&["a", "b"]);
    assert_eq!(open_ids(&transcript), ["a", "b"]);
    assert!(!transcript.is_closed());

    transcript.answer(result("a")).unwrap();
    assert_eq!(open_ids(&transcript), ["b"]);
    assert_eq!(transcript.len(), 2);

    transcript.answer(result("b")).unwrap();
    assert!(transcript.is_closed());
    assert_eq!(transcript.open_calls().count(), 0);
    assert_eq!(transcript.partial_results().count(), 0);
    assert_eq!(result_ids(transcript.last().unwrap()), ["a", "b"]);
}

// E1
#[test]
fn nothing_joins_an_open_group_but_results() {
    for message in [
        Message::user("Well?"),
        Message::system("Be quick."),
        Message::assistant("I know already."),
        asks(&["c"]),
    ] {
        let mut transcript = open(&["a", "b"]);
        transcript.answer(result("b")).unwrap();
        let before = transcript.clone();

        let error = transcript.push(message).unwrap_err();
        let call_ids = vec!["a".to_owned()];
        assert_eq!(error, TranscriptError::OpenCalls { call_ids });
        assert_eq!(error.to_string(), "tool calls without a result: `a`");
        assert_eq!(transcript, before);
    }
}

// E1
#[test]
fn only_a_closed_transcript_makes_a_request() {
    let mut transcript = open(&["a"]);
    let error = ChatRequest::new(transcript.clone()).unwrap_err();
    assert!(matches!(error, TranscriptError::OpenCalls { call_ids } if call_ids == ["a"]));

    transcript.answer(result("a")).unwrap();
    assert_eq!(ChatRequest::new(transcript).unwrap().messages().count(), 3);
}

// C7
#[test]
fn results_are_kept_in_call_order_whatever_order_they_come_in() {
    let mut transcript = open(&["a", "b", "c"]);
    for id in ["c", "a"] {
        transcript.answer(result(id)).unwrap();
    }
    let partial: Vec<&str> = transcript
        .partial_results()
        .map(|result| result.call_id())
        .collect();
    assert_eq!(partial, ["a", "c"]);

    transcript.push(Message::tool(vec![result("b")])).unwrap();
    assert_eq!(result_ids(transcript.last().unwrap()), ["a", "b", "c"]);
}

// E1
#[test]
fn a_whole_tool_message_keeps_its_id_and_one_in_another_order_does_not() {
    let whole = Message::tool(vec![result("a"), result("b")]);
    let mut transcript = open(&["a", "b"]);
    transcript.push(whole.clone()).unwrap();
    assert_eq!(transcript.last(), Some(&whole));

    let turned = Message::tool(vec![result("b"), result("a")]);
    let mut transcript = open(&["a", "b"]);
    transcript.push(turned.clone()).unwrap();
    assert_ne!(transcript.last().unwrap().id(), turned.id());
    assert_eq!(result_ids(transcript.last().unwrap()), ["a", "b"]);
}

// E1
#[test]
fn a_result_without_its_call_is_refused() {
    let unknown = TranscriptError::UnknownCall {
        call_id: "x".to_owned(),
    };
    let mut transcripts = [Transcript::new(), open(&["a"])];
    for transcript in &mut transcripts {
        let before = transcript.clone();
        assert_eq!(transcript.answer(result("x")), Err(unknown.clone()));
        let message = Message::tool(vec![result("x")]);
        assert_eq!(transcript.push(message), Err(unknown.clone()));
        assert_eq!(*transcript, before);
    }
    let mut closed = open(&["x"]);
    closed.answer(result("x")).unwrap();
    assert_eq!(closed.answer(result("x")), Err(unknown));
}

// E1
#[test]
fn a_second_result_is_refused_and_of_a_message_nothing_is_taken() {
    let twice = TranscriptError::AlreadyAnswered {
        call_id: "a".to_owned(),
    };
    let mut transcript = open(&["a", "b"]);
    let message = Message::tool(vec![result("a"), result("a")]);
    assert_eq!(transcript.push(message), Err(twice.clone()));
    assert_eq!(open_ids(&transcript), ["a", "b"]);

    transcript.answer(result("a")).unwrap();
    let message = Message::tool(vec![result("b"), result("a")]);
    assert_eq!(transcript.push(message), Err(twice));
    assert_eq!(open_ids(&transcript), ["b"]);
}

// E1
#[test]
fn one_id_stands_for_one_call_of_a_message() {
    let mut transcript = Transcript::new();
    let error = transcript.push(asks(&["a", "b", "a"])).unwrap_err();
    assert!(matches!(error, TranscriptError::DuplicateCallId { call_id } if call_id == "a"));
    assert!(transcript.is_empty());

    // In another message the id may come again.
    let mut transcript = open(&["a"]);
    transcript.answer(result("a")).unwrap();
    transcript.push(asks(&["a"])).unwrap();
    transcript.answer(result("a")).unwrap();
    assert!(transcript.is_closed());
}

// C8
#[test]
fn closing_gives_every_open_call_one_result_and_keeps_those_there_are() {
    let mut transcript = open(&["a", "b", "c"]);
    transcript.answer(result("b")).unwrap();

    let mut asked = Vec::new();
    transcript.close(|call| {
        asked.push(call.id().to_owned());
        // The id is the call's, whatever the result says.
        ToolResult::error(&self::call("other"), "Error: cancelled")
    });

    assert_eq!(asked, ["a", "c"]);
    let last = transcript.last().unwrap();
    assert_eq!(result_ids(last), ["a", "b", "c"]);
    let errors: Vec<bool> = last.tool_results().iter().map(|it| it.is_error()).collect();
    assert_eq!(errors, [true, false, true]);

    let before = transcript.clone();
    transcript.close(|_| unreachable!("nothing is open"));
    assert_eq!(transcript, before);
}

// E1
#[test]
fn removing_a_message_of_a_group_removes_the_group() {
    let mut whole = open(&["a", "b"]);
    whole.close(|call| ToolResult::ok(call, Vec::new()));
    whole.push(Message::assistant("Seen.")).unwrap();
    for position in [1, 2] {
        let mut transcript = whole.clone();
        let id = whole.messages()[position].id().clone();
        assert!(transcript.remove(&id));
        let texts: Vec<String> = transcript.messages().iter().map(Message::text).collect();
        assert_eq!(texts, ["Look.", "Seen."]);
    }

    let mut transcript = open(&["a", "b"]);
    transcript.answer(result("a")).unwrap();
    let id = transcript.last().unwrap().id().clone();
    assert!(transcript.remove(&id));
    assert!(transcript.is_closed());
    assert_eq!(transcript.len(), 1);

    assert!(!transcript.remove(&MessageId::new("nobody")));
}

// E1
#[test]
fn removing_a_message_before_an_open_group_leaves_it_open() {
    let mut transcript = open(&["a", "b"]);
    transcript.answer(result("a")).unwrap();
    let id = transcript.messages()[0].id().clone();
    assert!(transcript.remove(&id));
    assert_eq!(open_ids(&transcript), ["b"]);
    transcript.answer(result("b")).unwrap();
    assert_eq!(result_ids(transcript.last().unwrap()), ["a", "b"]);
}

// C8
#[test]
fn no_arguments_are_an_empty_object() {
    for text in ["", "  \n", "null", " null ", "{}"] {
        let call = ToolCall::new("a", "look", text);
        assert_eq!((call.arguments(), call.invalid()), ("{}", None), "{text:?}");
        assert_eq!(call.arguments_value(), Some(json!({})));
    }
}

// C8
#[test]
fn arguments_that_are_no_object_are_marked_and_kept() {
    for (text, fault) in [
        (r#"{"city": "Os"#, InvalidArguments::Truncated),
        (r#"{"city": "#, InvalidArguments::Truncated),
        ("[1, 2", InvalidArguments::Truncated),
        ("[1, 2]", InvalidArguments::NotAnObject),
        ("7", InvalidArguments::NotAnObject),
        (r#""Oslo""#, InvalidArguments::NotAnObject),
        (
            r#"{"city": "Oslo", "city": "Rome"}"#,
            InvalidArguments::DuplicateKey,
        ),
        (r#"{"a": 1} {"a": 2}"#, InvalidArguments::InvalidJson),
        ("city = Oslo", InvalidArguments::InvalidJson),
    ] {
        let call = ToolCall::new("a", "look", text);
        assert_eq!((call.arguments(), call.invalid()), (text, Some(fault)));
        assert_eq!(call.arguments_value(), None, "{text}");
    }
}

// C8
#[test]
fn an_object_in_a_string_is_unwrapped_once() {
    let inner = json!({"city": "Oslo"}).to_string();
    let once = json!(inner).to_string();
    let call = ToolCall::new("a", "look", &once);
    assert_eq!((call.arguments(), call.invalid()), (&*inner, None));

    let twice = json!(once).to_string();
    let call = ToolCall::new("a", "look", &twice);
    assert_eq!(call.invalid(), Some(InvalidArguments::NotAnObject));
    assert_eq!(call.arguments(), twice);
}

/// One thing a program can do to a transcript; ids are drawn from a few, so that they meet.
#[derive(Debug, Clone)]
enum Step {
    User,
    Ask(Vec<u8>),
    Answer(u8),
    Results(Vec<u8>),
    Close,
    Remove(usize),
    Rebuild,
}

fn step() -> impl Strategy<Value = Step> {
    let ids = || prop::collection::vec(0..4_u8, 0..4);
    prop_oneof![
        Just(Step::User),
        ids().prop_map(Step::Ask),
        (0..4_u8).prop_map(Step::Answer),
        ids().prop_map(Step::Results),
        Just(Step::Close),
        (0..12_usize).prop_map(Step::Remove),
        Just(Step::Rebuild),
    ]
}

fn take(transcript: &mut Transcript, step: Step) -> Result<(), TranscriptError> {
    match step {
        Step::User => transcript.push(Message::user("Go on.")),
        Step::Ask(ids) => {
            let calls = ids.iter().map(|id| call(&id.to_string())).collect();
            transcript.push(AssistantMessage::new("", None, calls).into())
        }
        Step::Answer(id) => transcript.answer(result(&id.to_string())),
        Step::Results(ids) => {
            let results = ids.iter().map(|id| result(&id.to_string())).collect();
            transcript.push(Message::tool(results))
        }
        Step::Close => {
            transcript.close(|call| ToolResult::error(call, "Error: cancelled"));
            Ok(())
        }
        Step::Remove(position) => {
            let id = transcript.messages().get(position).map(Message::id);
            if let Some(id) = id.cloned() {
                assert!(transcript.remove(&id));
            }
            Ok(())
        }
        Step::Rebuild => {
            let mut again = Transcript::from_messages(transcript.messages().iter().cloned())?;
            assert_eq!(again.messages(), transcript.messages());
            for result in transcript.partial_results() {
                again.answer(result.clone())?;
            }
            assert_eq!(again, *transcript);
            Ok(())
        }
    }
}

fn check(transcript: &Transcript) {
    let messages = transcript.messages();
    for (position, message) in messages.iter().enumerate() {
        let next = messages.get(position + 1);
        let ids: Vec<&str> = message.tool_calls().iter().map(|it| it.id()).collect();
        match next {
            None => assert_eq!(ids.is_empty(), transcript.is_closed()),
            Some(next) if ids.is_empty() => {
                assert!(!matches!(next.body(), MessageBody::Tool(_)));
            }
            Some(next) => assert_eq!(result_ids(next), ids),
        }
    }
    let first_is_tool = messages
        .first()
        .is_some_and(|first| matches!(first.body(), MessageBody::Tool(_)));
    assert!(!first_is_tool);
    let open = transcript.open_calls().count();
    assert_eq!(open == 0, transcript.is_closed());
    if open > 0 {
        let calls = transcript.last().unwrap().tool_calls().len();
        assert_eq!(open + transcript.partial_results().count(), calls);
    }
    assert_eq!(
        ChatRequest::new(transcript.clone()).is_ok(),
        transcript.is_closed()
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    // E1
    #[test]
    fn every_group_is_whole_or_the_open_last_one(steps in prop::collection::vec(step(), 0..40)) {
        let mut transcript = Transcript::new();
        for step in steps {
            let before = transcript.clone();
            if take(&mut transcript, step).is_err() {
                assert_eq!(transcript, before);
            }
            check(&transcript);
        }
    }

    // The text of a history grows with it and is shared by its clones.
    #[test]
    fn a_history_is_written_as_it_stands_whatever_was_sent_before(
        steps in prop::collection::vec((0_usize..3, any::<bool>(), step()), 0..40),
        first in 0_usize..5,
    ) {
        let mut clients = clients();
        // The text of the first that asks is kept.
        clients.rotate_left(first);
        let mut histories = vec![Transcript::new()];
        for (which, is_alone, step) in steps {
            let which = which % histories.len();
            // Alone or shared, which is not changed in the same way.
            let mut history = match is_alone {
                true => std::mem::take(&mut histories[which]),
                false => histories[which].clone(),
            };
            let _ = take(&mut history, step);
            for client in &clients {
                assert_eq!(written(client, &history), written(client, &anew(&history)));
            }
            histories.push(history);
            if histories.len() > 3 {
                histories.remove(0);
            }
        }
    }
}

/// The same messages, of which nothing was written yet.
fn anew(history: &Transcript) -> Transcript {
    let messages = history.messages().iter();
    let messages = messages.map(|it| Message::with_id(it.id().clone(), it.body().clone()));
    Transcript::from_messages(messages).unwrap()
}

/// What a client sends.
type Writer = Box<dyn Fn(&ChatRequest) -> String>;

fn clients() -> Vec<Writer> {
    let mut clients: Vec<Writer> = Vec::new();
    for caching in [PromptCaching::Off, PromptCaching::OneHour] {
        let client = Anthropic::builder().model("m").prompt_caching(caching);
        let client = client.api_key("k").build().unwrap();
        clients.push(Box::new(move |request| client.request_text(request)));
    }
    for profile in [Profile::Compatible, Profile::OpenAi, Profile::Mistral] {
        let client = OpenAi::builder()
            .base_url("http://127.0.0.1:1/v1")
            .model("m");
        let client = client.profile(profile).api_key("k").build().unwrap();
        clients.push(Box::new(move |request| client.request_text(request)));
    }
    clients
}

/// What a client sends; `None` while calls are open.
fn written(client: &Writer, history: &Transcript) -> Option<String> {
    let request = ChatRequest::new(history.clone()).ok()?;
    Some(client(&request))
}
