//! Runs inside tool calls of other runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent_core::agent::{AgentTool, Limit, Limits};
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::model::scripted::{Turn, calls, fails, hangs, says};
use agent_core::model::{ModelError, ModelErrorKind, ScriptedModel, Usage};
use agent_core::tool::{InterruptRequest, ToolOutcome};
use agent_core::{Host, Outcome, ReactAgent, RunOutput, ToolCallback as _, ToolContext};
use agent_tests::runs::{events, output, result_texts, texts};
use agent_tests::tools::{ClosureTool, Counter, answers, tool};
use serde_json::json;

fn usage(turn: Turn) -> Turn {
    turn.with_usage(Usage::new(10, 1))
}

/// An agent named `inner` with this script and these tools.
fn inner<const N: usize>(
    turns: impl IntoIterator<Item = Turn>,
    tools: [ClosureTool; N],
) -> ReactAgent {
    let model = ScriptedModel::new(turns);
    let agent = ReactAgent::builder("inner", model).description("Knows more.");
    agent.tools(tools).build().unwrap()
}

fn delegates() -> Turn {
    usage(calls("inner", json!({"input": "Look."})).with_id("c1"))
}

/// An agent that asks `inner` once.
fn outer(inner: ReactAgent) -> ReactAgent {
    let model = ScriptedModel::new([delegates(), usage(says("done"))]);
    let agent = ReactAgent::builder("outer", model);
    agent.tools(AgentTool::new(inner)).build().unwrap()
}

fn only_result(run: &RunOutput) -> String {
    result_texts(run.messages()).remove(0).1
}

// D1
#[tokio::test]
async fn an_agent_as_a_tool_answers_from_a_history_of_its_own() {
    let model = ScriptedModel::new([says("Seen.")]);
    let inner = ReactAgent::builder("inner", model.clone())
        .description("Knows more.")
        .system_prompt("Be brief.")
        .build()
        .unwrap();
    let tool = AgentTool::new(inner.clone());
    let definition = tool.definition().clone();

    let run = outer(inner).run("Go").await.unwrap();

    assert_eq!(only_result(&run), "Seen.");
    assert_eq!(texts(&model.requests()[0]), ["Be brief.", "Look."]);
    assert_eq!(
        (definition.name(), definition.description()),
        ("inner", "Knows more.")
    );
}

// D3
#[tokio::test]
async fn usage_of_a_nested_run_counts_for_the_outer_one() {
    let run = outer(inner([usage(says("Seen."))], [])).run("Go").await;

    assert_eq!(run.unwrap().usage(), Usage::new(30, 3));
}

// D3
#[tokio::test]
async fn events_of_a_nested_run_are_told_by_the_outer_one() {
    let step = tool("step", (), async |(), _, context: ToolContext| {
        context.emit("half").await;
    });
    let inner = inner(
        [calls("step", json!({})).with_id("i1"), says("Seen.")],
        [step],
    );

    let (events, error) = events(outer(inner).run("Go").stream()).await;

    assert!(error.is_none(), "{error:?}");
    let told = events.iter().filter_map(|event| {
        let what = match &event.kind {
            EventKind::RunStarted { .. } => "run".to_owned(),
            EventKind::TextDelta(text) => text.clone(),
            EventKind::ToolStarted { call } => format!("{} starts", call.id()),
            EventKind::ToolProgress { value, .. } => value.to_string(),
            EventKind::ToolFinished { result, .. } => format!("{} ends", result.call_id()),
            EventKind::RunFinished(_) => "end".to_owned(),
            _ => return None,
        };
        Some(format!("{}: {what}", event.agent))
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "outer: run",
            "outer: c1 starts",
            "inner: run",
            "inner: i1 starts",
            "inner: \"half\"",
            "inner: i1 ends",
            "inner: Seen.",
            "outer: c1 ends",
            "outer: done",
            "outer: end",
        ]
    );
    let numbers: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!(output(&events).text(), "done");
}

// D3
#[tokio::test]
async fn model_calls_of_a_nested_run_count_for_the_outer_limit() {
    let step = || tool("step", (), async |(), _, _| "stepped");
    let turns = (0..9).map(|_| calls("step", json!({})));
    let model = ScriptedModel::new([delegates(), says("done")]);
    let outer = ReactAgent::builder("outer", model)
        .tools(AgentTool::new(inner(turns, [step()])))
        .limits(Limits::new().model_calls(4));

    let run = outer.build().unwrap().run("Go").await.unwrap();

    // One of the outer run, three of the nested one, and there is no fifth.
    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ModelCalls));
    assert_eq!(
        only_result(&run),
        "Error: agent `inner` reached a limit without an answer: its model calls"
    );
}

// D3, C4
#[tokio::test]
async fn cancelling_the_outer_run_cancels_the_nested_one() {
    let (dropped, token) = (Counter::default(), CancellationToken::new());
    let hangs = tool(
        "hangs",
        (dropped.clone(), token.clone()),
        async |(dropped, token), _, _| {
            let _guard = dropped.on_drop();
            token.cancel();
            std::future::pending::<()>().await;
        },
    );
    let inner = inner([calls("hangs", json!({}))], [hangs]);

    let run = outer(inner).run("Go").cancel_token(token).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_eq!(dropped.get(), 1);
    assert!(run.state().transcript().is_closed());
}

// D3
#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_outer_run_holds_for_the_nested_one() {
    let run = outer(inner([hangs()], [])).run("Go");

    let run = run.deadline(Duration::from_millis(100)).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::Deadline));
}

// Case ex-34
#[tokio::test]
async fn runs_are_nested_no_deeper_than_allowed() {
    let itself: Arc<OnceLock<ReactAgent>> = Arc::default();
    let deepest = Counter::default();
    let shared = (Arc::clone(&itself), deepest.clone());
    let delegate = tool(
        "delegate",
        shared,
        async |(itself, deepest), _, context: ToolContext| {
            deepest.add();
            let tool = AgentTool::new(itself.get().unwrap().clone());
            let call = tool.call(r#"{"input":"Go on."}"#, &context);
            call.await
        },
    );
    // All depths share the script: each of the first three calls, then each says `done`.
    let calls = (0..3).map(|_| calls("delegate", json!({})));
    let model = ScriptedModel::new(calls.chain((0..3).map(|_| says("done"))));
    let agent = ReactAgent::builder("self", model)
        .tools(delegate)
        .limits(Limits::new().depth(3))
        .build()
        .unwrap();
    itself.set(agent.clone()).unwrap();

    let (events, error) = events(agent.run("Go").stream()).await;

    assert!(error.is_none(), "{error:?}");
    let results = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolFinished { result, .. } => Some(result.text()),
        _ => None,
    });
    let results: Vec<String> = results.collect();
    assert!(results[0].contains("depth"), "{results:?}");
    assert_eq!(deepest.get(), 3);
    assert_eq!(output(&events).text(), "done");
}

// D3, E5
#[tokio::test]
async fn a_nested_run_that_pauses_pauses_the_outer_one() {
    let asks = tool("asks", (), async |(), _, _| {
        ToolOutcome::Interrupt(InterruptRequest::new("Really?"))
    });

    let run = outer(inner([calls("asks", json!({}))], [asks])).run("Go");
    let run = run.await.unwrap();

    let Outcome::Interrupted(interrupts) = run.outcome() else {
        panic!("{:?}", run.outcome());
    };
    assert_eq!(interrupts[0].tool, "asks");
    assert_eq!(interrupts[0].request.payload, json!("Really?"));
}

// D1
#[tokio::test]
async fn an_agent_that_fails_is_named() {
    let broken = fails(ModelError::new(ModelErrorKind::Transport, "gone"));

    let run = outer(inner([broken], [])).run("Go").await.unwrap();

    assert!(
        only_result(&run).starts_with("Error: agent `inner` failed"),
        "{}",
        only_result(&run)
    );
}

#[agent_core::tool(register = false)]
async fn tenant(name: Host<String>, context: &ToolContext) -> String {
    format!("{} {:?}", *name, context.metadata("region"))
}

// A5
#[tokio::test]
async fn host_values_and_metadata_of_the_outer_run_reach_the_nested_one() {
    // RC-3
    let model = ScriptedModel::new([calls("tenant", json!({})), says("Seen.")]);
    let inner = ReactAgent::builder("inner", model.clone()).tools(agent_core::tools![tenant]);

    let run = outer(inner.build().unwrap()).run("Go");
    let run = run.host("Ada".to_owned()).metadata("region", "eu");
    run.await.unwrap();

    assert_eq!(
        model.requests()[1].last_tool_result(),
        r#"Ada Some(String("eu"))"#
    );
}

#[tokio::test]
async fn a_run_within_a_context_of_no_run_still_has_its_token() {
    let context = ToolContext::default();
    let run = inner([hangs()], []).run("Go").within(&context);

    context.cancellation().cancel();

    assert_eq!(run.await.unwrap().outcome(), &Outcome::Cancelled);
}

#[tokio::test]
async fn arguments_of_an_agent_without_input_are_told_to_the_model() {
    let model = ScriptedModel::new([calls("inner", json!({"in": 1})), says("done")]);
    let outer = ReactAgent::builder("outer", model).tools(AgentTool::new(inner([], [])));

    let run = outer.build().unwrap().run("Go").await.unwrap();

    assert!(
        only_result(&run).contains("`input`"),
        "{}",
        only_result(&run)
    );
}

// TE-6, D1
#[tokio::test]
async fn what_the_outer_agent_keeps_secret_is_masked_in_a_nested_run() {
    let model = ScriptedModel::new([calls("env", json!({})), says("Seen.")]);
    let inner = ReactAgent::builder("inner", model.clone());
    let inner = inner
        .tools(answers("env", "KEY=sk-live-9"))
        .build()
        .unwrap();
    let outer = ReactAgent::builder("outer", ScriptedModel::new([delegates(), says("done")]));

    let outer = outer.tools(AgentTool::new(inner)).secret("sk-live-9");
    let (events, _) = events(outer.build().unwrap().run("Go").stream()).await;

    assert_eq!(model.requests()[1].last_tool_result(), "KEY=***");
    let told = format!("{events:?}");
    assert!(!told.contains("sk-live-9"), "{told}");
}
