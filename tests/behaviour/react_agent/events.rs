//! The run is the fold of its events.

use agent_core::agent::{Limits, OnLimit};
use agent_core::event::EventKind;
use agent_core::model::scripted::{fails, says};
use agent_core::model::{ModelError, ModelErrorKind, ScriptedModel, Usage};
use agent_core::{AgentEvent, Message};
use agent_tests::runs::{events, output, results};
use expect_test::expect;
use serde_json::json;

use super::{agent, calls_step};

fn script() -> ScriptedModel {
    ScriptedModel::new([
        calls_step(1)
            .reasons("First, a step.")
            .with_usage(Usage::new(5, 1)),
        says("One step done.").with_usage(Usage::new(6, 2)),
    ])
}

/// One line for each event.
fn lines(events: &[AgentEvent]) -> String {
    let line = |event: &AgentEvent| match &event.kind {
        EventKind::RunStarted { .. } => "run started".to_owned(),
        EventKind::NodeStarted { node, step } => format!("{step} {node} started"),
        EventKind::NodeFinished { node, step, .. } => format!("{step} {node} finished"),
        EventKind::TextDelta(text) => format!("text {text:?}"),
        EventKind::ReasoningDelta(text) => format!("reasoning {text:?}"),
        EventKind::ToolCallDelta {
            index,
            name,
            arguments,
        } => {
            format!("call {index} {name} {arguments:?}")
        }
        EventKind::ModelFinished { finish_reason, .. } => format!("model: {finish_reason}"),
        EventKind::ToolStarted { call } => format!("{} started", call.id()),
        EventKind::ToolFinished { result, .. } => {
            format!("{}: {:?}", result.call_id(), result.text())
        }
        EventKind::StateUpdated { keys } => format!("state {keys:?}"),
        EventKind::RunFinished(output) => format!("run finished: {:?}", output.text()),
        other => format!("{other:?}"),
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

// B8
#[tokio::test]
async fn a_run_tells_what_happens_in_order() {
    let (events, _) = events(agent(&script()).build().unwrap().run("Go").stream()).await;

    expect![[r#"
        run started
        1 model started
        reasoning "First, "
        reasoning "a "
        reasoning "step."
        call 0 step ""
        call 0 step "{\"n\":1}"
        model: tool_calls
        1 model finished
        state ["messages"]
        2 tools started
        call_1 started
        call_1: "1."
        2 tools finished
        state ["messages"]
        3 model started
        text "One "
        text "step "
        text "done."
        model: stop
        3 model finished
        state ["messages"]
        run finished: "One step done.""#]]
    .assert_eq(&lines(&events));
}

// B8
#[tokio::test]
async fn events_are_numbered_from_one_without_a_gap() {
    let (events, _) = events(agent(&script()).build().unwrap().run("Go").stream()).await;

    let numbers: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    let expected: Vec<u64> = (1..).take(events.len()).collect();
    assert_eq!(numbers, expected);
    assert!(events.iter().all(|event| &*event.agent == "assistant"));
}

/// What an output says, without the ids that differ from run to run.
fn summary(output: &agent_core::RunOutput) -> String {
    let bodies: Vec<_> = output.messages().iter().map(Message::body).collect();
    format!(
        "{:?} {:?} {:?} {:?} {bodies:?}",
        output.outcome(),
        output.text(),
        output.finish_reason(),
        output.usage(),
    )
}

// B8
#[tokio::test]
async fn a_streamed_run_and_a_plain_one_give_the_same() {
    let (events, _) = events(agent(&script()).build().unwrap().run("Go").stream()).await;
    let plain = agent(&script())
        .streaming(false)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(summary(&output(&events)), summary(&plain));
}

/// The texts of messages and results, made of events alone.
fn folded(events: &[AgentEvent]) -> (Vec<Message>, Vec<String>, String, Usage) {
    let (mut messages, mut results) = (Vec::new(), Vec::new());
    let (mut text, mut total) = (String::new(), Usage::default());
    for event in events {
        match &event.kind {
            EventKind::TextDelta(piece) => text.push_str(piece),
            EventKind::ModelFinished { message, usage, .. } => {
                messages.push(message.clone());
                total += usage.unwrap_or_default();
            }
            EventKind::ToolFinished { result, .. } => results.push(result.text()),
            _ => {}
        }
    }
    (messages, results, text, total)
}

// B8
#[tokio::test]
async fn the_output_is_the_fold_of_the_events() {
    for streaming in [true, false] {
        let run = agent(&script())
            .build()
            .unwrap()
            .run("Go")
            .streaming(streaming);
        let (events, _) = events(run.stream()).await;

        let output = output(&events);
        let (messages, told, text, usage) = folded(&events);
        let answers = output
            .messages()
            .iter()
            .filter(|message| message.as_assistant().is_some());
        assert!(answers.eq(&messages));
        let texts: Vec<String> = results(output.messages())
            .iter()
            .map(|r| r.text())
            .collect();
        assert_eq!(texts, told);
        assert_eq!((output.text(), output.usage()), (&*text, usage));
    }
}

// B8, C12
#[tokio::test]
async fn each_result_has_its_event_also_over_a_limit() {
    for on_limit in [OnLimit::Stop, OnLimit::ErrorResult, OnLimit::LastAnswer] {
        let turn = calls_step(1).and_calls("step", json!({"n": 2}));
        let model = ScriptedModel::new([turn, calls_step(3), says("Fine.")]);
        let limits = Limits::new().tool_calls(1).on_limit(on_limit);

        let run = agent(&model).limits(limits).build().unwrap().run("Go");
        let (events, _) = events(run.stream()).await;

        let results = results(output(&events).messages());
        let texts: Vec<String> = results.iter().map(|result| result.text()).collect();
        assert_eq!(folded(&events).1, texts);
    }
}

// B8, B13
#[tokio::test]
async fn an_error_is_the_last_item_of_the_stream() {
    let error = ModelError::new(ModelErrorKind::Transport, "the line broke");
    let model = ScriptedModel::new([fails(error).and_says("So far")]);
    let mut stream = agent(&model).build().unwrap().run("Go").stream();

    let mut last = None;
    while let Some(event) = stream.next().await {
        last = Some(event);
    }

    assert!(last.unwrap().is_err());
    assert!(stream.next().await.is_none());
}

// B8
#[tokio::test]
async fn a_run_that_nobody_polls_does_nothing() {
    let model = script();

    drop(agent(&model).build().unwrap().run("Go").stream());

    assert!(model.requests().is_empty());
}

// B8. Tokio makes a task that never waits pause at any point.
#[tokio::test]
async fn no_event_is_lost_in_a_task_that_never_waits() {
    let agent = agent(&ScriptedModel::new((0..50).map(|_| says("Done."))))
        .build()
        .unwrap();

    for _ in 0..50 {
        let (events, _) = events(agent.run("Go").stream()).await;
        assert_eq!(events.len(), 7, "{}", lines(&events));
    }
}

// B8
#[tokio::test]
async fn more_events_than_the_channel_holds_are_all_told() {
    let text = "word ".repeat(500);
    let model = ScriptedModel::new([says(&*text)]);

    let (events, _) = events(agent(&model).build().unwrap().run("Go").stream()).await;

    assert_eq!(folded(&events).2, text);
}
