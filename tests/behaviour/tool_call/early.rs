//! Calls that start while the model still writes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::agent::{Limits, ReactAgentBuilder};
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::message::ToolCall;
use agent_core::model::{
    ChatModel, ChatRequest, FinishReason, ModelDelta, ModelError, ModelErrorKind,
};
use agent_core::tool::Effect;
use agent_core::{AgentError, AgentEvent, BoxStream, Outcome, ReactAgent, ToolContext};
use agent_tests::runs::{events, output, result_texts};
use agent_tests::tools::{ClosureTool, Counter, tool};
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::pairs;

/// What a model does next.
#[derive(Clone)]
enum Step {
    Give(ModelDelta),
    Wait(Duration),
    Break,
}

/// Does these steps, one list per request.
#[derive(Clone)]
struct Steps(Arc<Mutex<VecDeque<Vec<Step>>>>);

impl ChatModel for Steps {
    fn stream(&self, _: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        let steps = self.0.lock().unwrap().pop_front().unwrap();
        let deltas = futures_util::stream::iter(steps).filter_map(async |step| match step {
            Step::Give(delta) => Some(Ok(delta)),
            Step::Wait(time) => {
                sleep(time).await;
                None
            }
            Step::Break => Some(Err(ModelError::new(ModelErrorKind::Transport, "it broke"))),
        });
        Box::pin(deltas)
    }
}

fn fragment(index: usize, id: &str, name: &str, arguments: &str) -> Step {
    Step::Give(ModelDelta::ToolCallFragment {
        index,
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

/// Calls these tools with ids `c1`, `c2`, …, and waits after each as long as told.
fn writes(calls: &[(&str, u64)]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut ends = Vec::new();
    for (index, (name, wait)) in calls.iter().enumerate() {
        let id = format!("c{}", index + 1);
        steps.extend([
            fragment(index, &id, name, ""),
            fragment(index, &id, name, "{\"text\": \"}"),
            fragment(index, &id, name, "\"}"),
            Step::Wait(Duration::from_secs(*wait)),
        ]);
        let call = ToolCall::new(id, *name, r#"{"text": "}"}"#);
        ends.push(Step::Give(ModelDelta::ToolCall(call)));
    }
    steps.extend(ends);
    steps.push(Step::Give(ModelDelta::Finished(FinishReason::ToolCalls)));
    steps
}

fn says_done() -> Vec<Step> {
    vec![
        Step::Give(ModelDelta::Text("done".to_owned())),
        Step::Give(ModelDelta::Finished(FinishReason::Stop)),
    ]
}

fn agent<const N: usize>(replies: Vec<Vec<Step>>, tools: [ClosureTool; N]) -> ReactAgentBuilder {
    let model = Steps(Arc::new(Mutex::new(replies.into())));
    let agent = ReactAgent::builder("assistant", model).tools(tools);
    agent.parallel_tool_execution(true).eager_tool_start(true)
}

/// Takes this many seconds, and counts that it began.
fn reads(name: &'static str, seconds: u64, began: &Counter) -> ClosureTool {
    let shared = (Duration::from_secs(seconds), began.clone());
    let reads = tool(
        name,
        shared,
        async |(time, began), _, context: ToolContext| {
            began.add();
            context.emit(json!("reading")).await;
            sleep(time).await;
            "read"
        },
    );
    reads.effect(Effect::Pure)
}

/// The events as short texts, without those of the deltas.
fn told(events: &[AgentEvent]) -> Vec<String> {
    let text = |event: &AgentEvent| match &event.kind {
        EventKind::ModelFinished { .. } => Some("model finished".to_owned()),
        EventKind::ToolStarted { call } => Some(format!("{} started", call.id())),
        EventKind::ToolProgress { call_id, .. } => Some(format!("{call_id} progress")),
        EventKind::ToolFinished { result, .. } => Some(format!("{} finished", result.call_id())),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_runs_while_the_model_writes_the_next() {
    for (eager, expected) in [(true, 6), (false, 9)] {
        let (slow, quick) = (Counter::default(), Counter::default());
        let replies = vec![writes(&[("slow", 3), ("quick", 0)]), says_done()];
        let tools = [reads("slow", 6, &slow), reads("quick", 1, &quick)];
        let agent = agent(replies, tools).eager_tool_start(eager);
        let started = Instant::now();

        let run = agent.build().unwrap().run("Go").await.unwrap();

        let texts = pairs(&[("c1", "read"), ("c2", "read")]);
        assert_eq!(result_texts(run.messages()), texts);
        assert_eq!((slow.get(), quick.get()), (1, 1));
        assert_eq!(started.elapsed().as_secs(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_call_of_a_slow_reply_costs_no_time() {
    for (eager, expected) in [(true, 3), (false, 6)] {
        let began = Counter::default();
        let replies = vec![writes(&[("slow", 3)]), says_done()];
        let agent = agent(replies, [reads("slow", 3, &began)]).eager_tool_start(eager);
        let started = Instant::now();

        agent.build().unwrap().run("Go").await.unwrap();

        assert_eq!(started.elapsed().as_secs(), expected);
        assert_eq!(began.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn events_are_those_of_a_call_that_starts_after_the_reply() {
    let mut told_by = Vec::new();
    for eager in [true, false] {
        let began = Counter::default();
        let replies = vec![writes(&[("slow", 3), ("quick", 3)]), says_done()];
        let tools = [reads("slow", 9, &began), reads("quick", 1, &began)];
        let agent = agent(replies, tools).parallel_tool_execution(false);
        let agent = agent.eager_tool_start(eager).build().unwrap();

        let (events, error) = events(agent.run("Go").stream()).await;

        assert!(error.is_none(), "{error:?}");
        assert!(output(&events).state().transcript().is_closed());
        told_by.push(told(&events));
    }
    assert_eq!(told_by[0], told_by[1]);
    assert_eq!(
        told_by[0][..3],
        ["model finished", "c1 started", "c1 progress"]
    );
}

#[tokio::test(start_paused = true)]
async fn only_a_pure_tool_starts_early() {
    for effect in [Effect::Idempotent, Effect::Once] {
        let began = Counter::default();
        let mut reply = writes(&[("slow", 3)]);
        let last = reply.len() - 2;
        reply.truncate(last);
        reply.push(Step::Break);
        let agent = agent(vec![reply], [reads("slow", 1, &began).effect(effect)]);

        let error = agent.build().unwrap().run("Go").await.unwrap_err();

        assert!(matches!(error, AgentError::Model { .. }), "{error:?}");
        assert_eq!(began.get(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_fails_drops_what_it_began() {
    let (began, dropped) = (Counter::default(), Counter::default());
    let hangs = tool(
        "hangs",
        (began.clone(), dropped.clone()),
        async |(began, dropped), _, _| {
            began.add();
            let _guard = dropped.on_drop();
            std::future::pending::<()>().await;
        },
    );
    let mut reply = writes(&[("hangs", 3)]);
    reply.truncate(4);
    reply.push(Step::Break);
    let agent = agent(vec![reply], [hangs.effect(Effect::Pure)]);

    let error = agent.build().unwrap().run("Go").await.unwrap_err();

    assert!(matches!(error, AgentError::Model { .. }), "{error:?}");
    assert!(error.output().unwrap().state().transcript().is_closed());
    tokio::task::yield_now().await;
    assert_eq!((began.get(), dropped.get()), (1, 1));
}

// C4
#[tokio::test(start_paused = true)]
async fn dropping_the_run_drops_what_began_early() {
    let (began, dropped) = (Counter::default(), Counter::default());
    // Once while the model writes, once when the tool node has the call.
    for writes_on in [30, 0] {
        let reply = writes(&[("hangs", writes_on)]);
        let hangs = tool(
            "hangs",
            (began.clone(), dropped.clone()),
            async |(began, dropped), _, _| {
                began.add();
                let _guard = dropped.on_drop();
                std::future::pending::<()>().await;
            },
        );
        let agent = agent(vec![reply], [hangs.effect(Effect::Pure)])
            .build()
            .unwrap();
        let run = tokio::time::timeout(Duration::from_secs(9), agent.run("Go").into_future());
        assert!(run.await.is_err());
    }
    tokio::task::yield_now().await;
    assert_eq!((began.get(), dropped.get()), (2, 2));
}

// C4
#[tokio::test(start_paused = true)]
async fn cancelling_the_run_ends_what_began_early() {
    let began = Counter::default();
    let replies = vec![writes(&[("slow", 0)])];
    let agent = agent(replies, [reads("slow", 60, &began)]).build().unwrap();
    let token = CancellationToken::new();
    let cancel = async {
        sleep(Duration::from_secs(5)).await;
        token.cancel();
    };

    let (run, ()) = tokio::join!(agent.run("Go").cancel_token(token.clone()), cancel);

    let run = run.unwrap();
    assert_eq!(run.outcome(), &Outcome::Cancelled);
    let text = "Error: cancelled while it ran; it may have run in part";
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
}

// C12
#[tokio::test(start_paused = true)]
async fn a_call_over_a_limit_does_not_start_early_either() {
    let began = Counter::default();
    let replies = vec![
        writes(&[("slow", 1), ("slow", 1), ("slow", 1)]),
        says_done(),
    ];
    let limits = Limits::default().calls_of("slow", 2);
    let agent = agent(replies, [reads("slow", 1, &began)]).limits(limits);

    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert!(matches!(run.outcome(), Outcome::LimitReached(_)));
    assert_eq!(began.get(), 2);
}

// C1: one after another means in call order
#[tokio::test(start_paused = true)]
async fn in_a_row_no_call_overtakes_one_that_waits() {
    let (first, second) = (Counter::default(), Counter::default());
    let mut reply = writes(&[("once", 3), ("slow", 3)]);
    reply.truncate(8);
    reply.push(Step::Break);
    let tools = [
        reads("once", 1, &first).effect(Effect::Once),
        reads("slow", 1, &second),
    ];
    let agent = agent(vec![reply], tools).parallel_tool_execution(false);

    agent.build().unwrap().run("Go").await.unwrap_err();

    assert_eq!((first.get(), second.get()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_reply_ends_differently_runs_as_it_ended() {
    let began = Counter::default();
    let echoes = tool(
        "echoes",
        began.clone(),
        async |began, arguments: serde_json::Value, _| {
            began.add();
            arguments["text"].as_str().unwrap_or_default().to_owned()
        },
    );
    let mut reply = writes(&[("echoes", 1)]);
    let position = reply.len() - 2;
    reply[position] = Step::Give(ModelDelta::ToolCall(ToolCall::new(
        "c1",
        "echoes",
        r#"{"text": "other"}"#,
    )));
    let agent = agent(vec![reply, says_done()], [echoes.effect(Effect::Pure)]);

    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(result_texts(run.messages()), pairs(&[("c1", "other")]));
    assert_eq!(began.get(), 2);
}
