//! How the calls of one turn run: order, limits of time, failures, direct answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::agent::{ErrorAction, ErrorPolicy};
use agent_core::event::EventKind;
use agent_core::graph::StateKey;
use agent_core::message::ToolResult;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{
    AgentError, Host, Message, Outcome, ReactAgent, RunOutput, ToolContext, ToolError, tool, tools,
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

fn results(output: &RunOutput) -> Vec<&ToolResult> {
    output
        .messages()
        .iter()
        .flat_map(Message::tool_results)
        .collect()
}

fn texts(output: &RunOutput) -> Vec<String> {
    results(output).into_iter().map(ToolResult::text).collect()
}

/// Waits for a second caller.
#[tool]
async fn meet(barrier: Host<Barrier>, name: &str) -> String {
    barrier.wait().await;
    name.to_owned()
}

// C1, tn.3
#[tokio::test]
async fn parallel_calls_run_at_the_same_time() {
    let model = ScriptedModel::new([
        calls("meet", json!({"name": "a"})).and_calls("meet", json!({"name": "b"})),
        says("Met."),
    ]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![meet])
        .host(Barrier::new(2))
        .parallel_tool_execution(true)
        .build()
        .unwrap();

    let output = agent.run("Meet.").await.unwrap();

    assert_eq!(texts(&output), ["a", "b"]);
}

#[tool]
async fn wait(context: &ToolContext, ms: u64) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    format!("{} after {ms}", context.call_id())
}

// C1, ex-03
#[tokio::test(start_paused = true)]
async fn results_stand_in_call_order_while_events_come_as_calls_end() {
    let model = ScriptedModel::new([
        calls("wait", json!({"ms": 80}))
            .with_id("c1")
            .and_calls("wait", json!({"ms": 40}))
            .with_id("c2")
            .and_calls("wait", json!({"ms": 1}))
            .with_id("c3"),
        says("Done."),
    ]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![wait])
        .parallel_tool_execution(true)
        .build()
        .unwrap();

    let mut events = agent.run("Wait.").stream();
    let mut finished = Vec::new();
    let mut output = None;
    while let Some(event) = events.next().await {
        match event.unwrap().kind {
            EventKind::ToolFinished { result, .. } => finished.push(result.call_id),
            EventKind::RunFinished(end) => output = Some(end),
            _ => {}
        }
    }

    assert_eq!(finished, ["c3", "c2", "c1"]);
    let output = output.unwrap();
    let order: Vec<&str> = results(&output)
        .iter()
        .map(|result| &*result.call_id)
        .collect();
    assert_eq!(order, ["c1", "c2", "c3"]);
}

#[tool]
async fn never() -> String {
    std::future::pending().await
}

// C2, C3, ex-05
#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_timed_out_and_its_sibling_untouched() {
    for parallel in [false, true] {
        let model = ScriptedModel::new([
            calls("wait", json!({"ms": 1})).and_calls("never", json!({})),
            says("Done."),
        ]);
        let agent = ReactAgent::builder("a", model)
            .tools(tools![wait, never])
            .parallel_tool_execution(parallel)
            .tool_execution_timeout(Duration::from_millis(100))
            .build()
            .unwrap();

        let output = agent.run("Go.").await.unwrap();

        let results = results(&output);
        assert!(!results[0].is_error);
        assert!(results[1].is_error);
        assert_eq!(results[1].text(), "Error: timed out after 100 ms");
    }
}

#[tool]
async fn count(counter: Host<Arc<AtomicUsize>>) -> String {
    counter.fetch_add(1, Ordering::SeqCst);
    std::future::pending().await
}

// C2, TN-5, tn.14
#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_over_before_it_has_a_slot_never_starts() {
    let counter = Arc::new(AtomicUsize::new(0));
    let model = ScriptedModel::new([
        calls("count", json!({})).and_calls("count", json!({})),
        says("Done."),
    ]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![count])
        .host(Arc::clone(&counter))
        .parallel_tool_execution(true)
        .max_parallel_tools(1)
        .tool_execution_timeout(Duration::from_millis(100))
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    assert_eq!(texts(&output), ["Error: timed out after 100 ms"; 2]);
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

/// Panics.
#[tool]
async fn panics() -> String {
    panic!("at src/secret.rs")
}

/// Panics on the pool.
#[tool]
fn panics_blocking() -> String {
    panic!("at src/secret.rs")
}

#[tool]
fn fine() -> &'static str {
    "fine"
}

// C11, ex-01
#[tokio::test]
async fn a_panic_is_that_calls_error_only() {
    for parallel in [false, true] {
        let model = ScriptedModel::new([
            calls("fine", json!({}))
                .and_calls("panics", json!({}))
                .and_calls("panics_blocking", json!({}))
                .and_calls("fine", json!({})),
            says("Done."),
        ]);
        let agent = ReactAgent::builder("a", model)
            .tools(tools![fine, panics, panics_blocking])
            .parallel_tool_execution(parallel)
            .build()
            .unwrap();

        let output = agent.run("Go.").await.unwrap();

        let texts = texts(&output);
        assert_eq!(texts[0], "fine");
        assert_eq!(texts[1], "Error: the tool panicked");
        assert_eq!(texts[2], "Error: the tool panicked");
        assert_eq!(texts[3], "fine");
    }
}

// C9, TN-10, ex-22
#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_tools_there_are() {
    let model = ScriptedModel::new([
        calls("default_api:fine", json!({})).and_calls("delete_all", json!({})),
        says("Done."),
    ]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![fine, wait])
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    let texts = texts(&output);
    assert_eq!(texts[0], "fine");
    for part in ["delete_all", "fine", "wait"] {
        assert!(texts[1].contains(part), "{}", texts[1]);
    }
}

// C8, ex-27
#[tokio::test]
async fn a_truncated_call_is_answered_and_never_run() {
    let model = ScriptedModel::new([
        calls("wait", Value::String(r#"{"ms": 1"#.into())).and_calls("fine", Value::Null),
        says("Done."),
    ]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![fine, wait])
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    assert!(
        texts(&output)[0].contains("truncated"),
        "{:?}",
        texts(&output)
    );
    assert_eq!(texts(&output)[1], "fine");
}

// C10
#[tokio::test]
async fn a_bad_argument_is_told_to_the_model_and_the_run_goes_on() {
    let model = ScriptedModel::new([calls("wait", json!({"ms": "soon"})), says("When?")]);
    let agent = ReactAgent::builder("a", model.clone())
        .tools(tools![wait])
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    assert_eq!(output.text(), "When?");
    let told = model.requests()[1].last_tool_result();
    assert!(
        told.starts_with("Error: argument `ms` does not fit its type"),
        "{told}"
    );
}

#[tool(return_direct)]
fn direct(text: &str) -> String {
    text.to_owned()
}

// C13, rd.1, rd.2
#[tokio::test]
async fn direct_results_are_the_answer_without_another_model_call() {
    let one = ScriptedModel::new([calls("direct", json!({"text": "a"}))]);
    let two = ScriptedModel::new([
        calls("direct", json!({"text": "a"})).and_calls("direct", json!({"text": "{\"b\":1}"}))
    ]);

    for (model, answer) in [(one, "a"), (two, r#"["a",{"b":1}]"#)] {
        let agent = ReactAgent::builder("a", model.clone())
            .tools(tools![direct])
            .build()
            .unwrap();
        let output = agent.run("Go.").await.unwrap();

        assert_eq!(output.text(), answer);
        assert_eq!(output.finish_reason().unwrap().to_string(), "return_direct");
        assert_eq!(model.requests().len(), 1);
        assert_eq!(output.messages().last().unwrap().text(), answer);
    }
}

// C13, rd.4, ex-16
#[tokio::test]
async fn a_direct_result_beside_a_normal_one_goes_back_to_the_model() {
    let model = ScriptedModel::new([
        calls("direct", json!({"text": "a"})).and_calls("fine", json!({})),
        says("Both."),
    ]);
    let agent = ReactAgent::builder("a", model.clone())
        .tools(tools![direct, fine])
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    assert_eq!(output.text(), "Both.");
    assert_eq!(model.requests().len(), 2);
    assert_eq!(texts(&output), ["a", "fine"]);
}

#[tool]
async fn note(context: &ToolContext, word: &str, fails: bool) -> Result<&'static str, ToolError> {
    context.update(NOTE, word).map_err(ToolError::fatal)?;
    if fails {
        Err(ToolError::correctable("no"))
    } else {
        Ok("noted")
    }
}

const NOTE: StateKey<String> = StateKey::new("note");

// C3, C6, TN-8, tn.22
#[tokio::test]
async fn state_updates_join_in_call_order_and_failed_calls_change_nothing() {
    for parallel in [false, true] {
        let model = ScriptedModel::new([
            calls("note", json!({"word": "first", "fails": false}))
                .and_calls("note", json!({"word": "second", "fails": false}))
                .and_calls("note", json!({"word": "third", "fails": true})),
            says("Done."),
        ]);
        let agent = ReactAgent::builder("a", model)
            .tools(tools![note])
            .parallel_tool_execution(parallel)
            .build()
            .unwrap();

        let output = agent.run("Go.").await.unwrap();

        assert_eq!(
            output.state().get(&NOTE).unwrap().as_deref(),
            Some("second")
        );
        assert_eq!(texts(&output)[2], "Error: no");
    }
}

#[tool]
async fn fatal() -> Result<(), ToolError> {
    Err(ToolError::fatal("the disk is gone"))
}

// C10
#[tokio::test]
async fn a_fatal_error_ends_the_run() {
    let model = ScriptedModel::new([calls("fatal", json!({}))]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![fatal])
        .build()
        .unwrap();

    let error = agent.run("Go.").await.unwrap_err();

    let AgentError::Tool { tool, source, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(tool, "fatal");
    assert_eq!(source.to_string(), "the disk is gone");
}

#[tool]
async fn io() -> Result<(), std::io::Error> {
    Err(std::io::Error::other("no disk"))
}

// C10, TE-6
#[tokio::test]
async fn a_passed_through_error_reaches_the_caller_as_it_is() {
    let model = ScriptedModel::new([calls("io", json!({}))]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![io])
        .error_policy(ErrorPolicy::new().pass_through::<std::io::Error>())
        .build()
        .unwrap();

    let error = agent.run("Go.").await.unwrap_err();

    let AgentError::PassedThrough(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        error.downcast::<std::io::Error>().unwrap().to_string(),
        "no disk"
    );
}

// C10
#[tokio::test]
async fn a_policy_of_ones_own_words_the_error() {
    let model = ScriptedModel::new([calls("io", json!({})), says("Sorry.")]);
    let agent = ReactAgent::builder("a", model.clone())
        .tools(tools![io])
        .error_policy(ErrorPolicy::custom(|_, call| {
            ErrorAction::Tell(format!("{} does not work today", call.name))
        }))
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    assert_eq!(*output.outcome(), Outcome::Finished);
    assert_eq!(
        model.requests()[1].last_tool_result(),
        "io does not work today"
    );
}

// C5, ex-07
#[tokio::test]
async fn a_blocking_tool_does_not_stall_a_runtime_of_one_thread() {
    #[tool]
    fn blocks(receiver: Host<std::sync::Mutex<std::sync::mpsc::Receiver<()>>>) -> &'static str {
        receiver.lock().unwrap().recv().unwrap();
        "released"
    }
    #[tool]
    async fn releases(sender: Host<std::sync::mpsc::Sender<()>>) -> &'static str {
        sender.send(()).unwrap();
        "sent"
    }
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let model = ScriptedModel::new([
        calls("blocks", json!({})).and_calls("releases", json!({})),
        says("Done."),
    ]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![blocks, releases])
        .host(std::sync::Mutex::new(receiver))
        .host(sender)
        .parallel_tool_execution(true)
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    assert_eq!(texts(&output), ["released", "sent"]);
}
