//! How a run is ended from outside, and what is left of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod blocking;
mod token;

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use agent_core::agent::{Limit, RunStream};
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::model::scripted::{Turn, calls, hangs, says};
use agent_core::model::{ChatModel, ChatRequest, ModelDelta, ModelError, OpenAi, ScriptedModel};
use agent_core::tool::{InterruptRequest, ToolOutcome};
use agent_core::{BoxStream, Outcome, ReactAgent, RunOutput, ToolContext};
use agent_tests::replay::{Answer, ReplayServer};
use agent_tests::runs::{events, result_texts};
use agent_tests::tools::{ClosureTool, Counter, CountsDrop, answers, never, tool};
use serde_json::json;

const SOON: Duration = Duration::from_millis(100);

/// A model whose requests count when they are dropped.
struct Watched(ScriptedModel, Counter);

impl ChatModel for Watched {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        struct Held(
            BoxStream<'static, Result<ModelDelta, ModelError>>,
            CountsDrop,
        );
        let mut held = Held(self.0.stream(request), self.1.on_drop());
        Box::pin(futures_util::stream::poll_fn(move |context| {
            let Held(deltas, _guard) = &mut held;
            deltas.as_mut().poll_next(context)
        }))
    }
}

fn two_calls(first: &str, second: &str) -> Turn {
    let turn = calls(first, json!({})).with_id("c1");
    turn.and_calls(second, json!({})).with_id("c2")
}

fn agent<const N: usize>(turn: Turn, tools: [ClosureTool; N]) -> ReactAgent {
    let model = ScriptedModel::new([turn, says("done")]);
    let agent = ReactAgent::builder("assistant", model).tools(tools);
    agent.parallel_tool_execution(true).build().unwrap()
}

/// A tool that hangs, and counts when it is dropped.
fn hanging(name: &'static str, dropped: &Counter) -> ClosureTool {
    tool(name, dropped.clone(), async |dropped, _, _| {
        let _guard = dropped.on_drop();
        std::future::pending::<()>().await;
    })
}

/// A tool that cancels the run while its siblings run.
fn cancels(token: &CancellationToken) -> ClosureTool {
    tool("cancels", token.clone(), async |token, _, _| {
        tokio::task::yield_now().await;
        token.cancel();
        std::future::pending::<()>().await;
    })
}

/// Reads events until a tool has started.
async fn until_tool_started(stream: &mut RunStream) {
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, EventKind::ToolStarted { .. }) {
            return;
        }
    }
    panic!("no tool started");
}

fn assert_closed(run: &RunOutput) {
    assert!(run.state().transcript().is_closed(), "{:?}", run.messages());
}

// C4, CT-6
#[tokio::test(start_paused = true)]
async fn a_token_cancels_the_model_request() {
    let dropped = Counter::default();
    let model = Watched(
        ScriptedModel::new([hangs().and_says("So far")]),
        dropped.clone(),
    );
    let agent = ReactAgent::builder("assistant", model).build().unwrap();
    let token = CancellationToken::new();
    let mut stream = agent.run("Go").cancel_token(token.clone()).stream();
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, EventKind::TextDelta(_)) {
            break;
        }
    }

    token.cancel();
    let (events, error) = events(stream).await;

    assert!(error.is_none(), "{error:?}");
    let run = agent_tests::runs::output(&events);
    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_eq!(run.messages().len(), 1);
    assert_eq!(dropped.get(), 1);
}

// C4, CT-5, ct.4
#[tokio::test(start_paused = true)]
async fn a_run_cancelled_before_it_begins_asks_no_model() {
    let model = ScriptedModel::new([says("done")]);
    let agent = ReactAgent::builder("assistant", model.clone())
        .build()
        .unwrap();
    let token = CancellationToken::new();
    token.cancel();

    let run = agent.run("Go").cancel_token(token).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert!(model.requests().is_empty());
}

// C4, CT-5, CT-6, ct.4, case hp-03
#[tokio::test(start_paused = true)]
async fn a_run_cancelled_while_tools_run_answers_each_open_call() {
    let token = CancellationToken::new();
    let dropped = Counter::default();
    let tools = [cancels(&token), hanging("hangs", &dropped)];

    let run = agent(two_calls("cancels", "hangs"), tools)
        .run("Go")
        .cancel_token(token);
    let run = run.await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Cancelled);
    let cancelled = "Error: cancelled while it ran; it may have run in part";
    let expected = [("c1", cancelled), ("c2", cancelled)];
    let texts = result_texts(run.messages());
    let texts: Vec<_> = texts.iter().map(|(id, text)| (&**id, &**text)).collect();
    assert_eq!(texts, expected);
    assert_eq!(dropped.get(), 1);
    assert_closed(&run);
}

// C4
#[tokio::test(start_paused = true)]
async fn a_call_that_had_not_begun_is_told_apart() {
    let token = CancellationToken::new();
    let runs = Counter::default();
    let later = tool("later", runs.clone(), async |runs, _, _| {
        runs.add().to_string()
    });
    let model = ScriptedModel::new([two_calls("cancels", "later")]);

    let agent = ReactAgent::builder("assistant", model).tools([cancels(&token), later]);
    let run = agent
        .build()
        .unwrap()
        .run("Go")
        .cancel_token(token)
        .await
        .unwrap();

    assert_eq!(runs.get(), 0);
    assert_eq!(
        result_texts(run.messages())[1].1,
        "Error: cancelled before it started"
    );
}

// C4
#[tokio::test(start_paused = true)]
async fn a_call_that_was_done_keeps_its_result_and_its_state() {
    let token = CancellationToken::new();
    let writes = tool("writes", (), async |(), _, context: ToolContext| {
        context.update("written", true)
    });

    let run = agent(two_calls("writes", "cancels"), [writes, cancels(&token)]).run("Go");
    let run = run.cancel_token(token).await.unwrap();

    assert_eq!(result_texts(run.messages())[0].1, "Done");
    assert_eq!(run.state().value("written"), Some(&json!(true)));
}

// C4, CT-6, ct.8, case ex-09
#[tokio::test(start_paused = true)]
async fn dropping_the_stream_drops_every_async_tool_at_once() {
    let dropped = Counter::default();
    let tools = [hanging("left", &dropped), hanging("right", &dropped)];
    let mut stream = agent(two_calls("left", "right"), tools).run("Go").stream();
    until_tool_started(&mut stream).await;
    until_tool_started(&mut stream).await;

    drop(stream);

    assert_eq!(dropped.get(), 2);
}

// C4, case ex-09
#[tokio::test(start_paused = true)]
async fn dropping_the_awaited_run_leaves_nothing_behind_that_runs() {
    let ran_on = Counter::default();
    let slow = tool("slow", ran_on.clone(), async |ran_on, _, _| {
        tokio::time::sleep(SOON * 2).await;
        ran_on.add();
    });
    let run = agent(calls("slow", json!({})), [slow])
        .run("Go")
        .into_future();

    tokio::time::timeout(SOON, run).await.unwrap_err();
    tokio::time::sleep(SOON * 4).await;

    assert_eq!(ran_on.get(), 0);
    let alive = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert_eq!(alive, 0);
}

// C4
#[tokio::test(start_paused = true)]
async fn dropping_the_stream_drops_the_model_request() {
    let dropped = Counter::default();
    let model = Watched(
        ScriptedModel::new([hangs().and_says("So far")]),
        dropped.clone(),
    );
    let mut stream = ReactAgent::builder("assistant", model)
        .build()
        .unwrap()
        .run("Go")
        .stream();
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, EventKind::TextDelta(_)) {
            break;
        }
    }

    drop(stream);

    assert_eq!(dropped.get(), 1);
}

// C4, CT-5, ct.4
#[tokio::test]
async fn a_call_that_went_well_is_not_told_to_stop() {
    let seen = Arc::new(Mutex::new(None));
    let keeps = tool(
        "keeps",
        Arc::clone(&seen),
        async |seen, _, context: ToolContext| {
            *seen.lock().unwrap() = Some(context.cancellation().clone());
        },
    );

    agent(calls("keeps", json!({})), [keeps])
        .run("Go")
        .await
        .unwrap();

    let token = seen.lock().unwrap().take().unwrap();
    assert!(!token.is_cancelled());
}

// C4
#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_run_ends_its_model_request() {
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([hangs()]))
        .build()
        .unwrap();

    let run = agent.run("Go").deadline(SOON).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::Deadline));
    assert_closed(&run);
}

// C2, C4
#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_run_ends_its_tools() {
    let model = ScriptedModel::new([two_calls("quick", "never"), says("done")]);
    let agent = ReactAgent::builder("assistant", model.clone());
    let agent = agent
        .tools([answers("quick", "ok"), never("never")])
        .build()
        .unwrap();

    let run = agent.run("Go").deadline(SOON).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::Deadline));
    assert_eq!(
        result_texts(run.messages())[1].1,
        "Error: timed out: the time of the whole run is over"
    );
    assert_closed(&run);
    assert_eq!(model.requests().len(), 1);
}

// B8
#[tokio::test]
async fn nothing_comes_after_the_last_event() {
    let (keep, kept) = mpsc::channel::<ToolContext>();
    let lends = tool("lends", keep, async |keep, _, context: ToolContext| {
        keep.send(context).unwrap();
    });
    let mut stream = agent(calls("lends", json!({})), [lends]).run("Go").stream();
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, EventKind::RunFinished(_)) {
            break;
        }
    }

    kept.recv().unwrap().emit("too late").await;

    assert!(stream.next().await.is_none());
}

// C4
#[tokio::test]
async fn dropping_the_run_closes_the_connection_to_the_provider() {
    let first = r#"data: {"choices":[{"index":0,"delta":{"content":"So"},"finish_reason":null}]}"#;
    let server = ReplayServer::start([Answer::events(format!("{first}\n\n")).then_hang()]).await;
    let model = OpenAi::builder()
        .base_url(server.url())
        .model("m")
        .build()
        .unwrap();
    let mut stream = ReactAgent::builder("assistant", model)
        .build()
        .unwrap()
        .run("Go")
        .stream();
    while let Some(event) = stream.next().await {
        if matches!(event.unwrap().kind, EventKind::TextDelta(_)) {
            break;
        }
    }

    drop(stream);

    server.closed().await;
    assert_eq!(server.connections(), 1);
}

// C4
#[tokio::test]
async fn cancelling_the_run_closes_the_connection_to_the_provider() {
    let server = ReplayServer::start([Answer::silence()]).await;
    let model = OpenAi::builder()
        .base_url(server.url())
        .model("m")
        .build()
        .unwrap();
    let agent = ReactAgent::builder("assistant", model).build().unwrap();
    let token = CancellationToken::new();
    let cancel = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };

    let (run, ()) = tokio::join!(agent.run("Go").cancel_token(token.clone()), cancel);

    assert_eq!(run.unwrap().outcome(), &Outcome::Cancelled);
    server.closed().await;
}

// C4
#[tokio::test]
async fn a_run_that_is_cancelled_does_not_wait_for_a_person() {
    let token = CancellationToken::new();
    let asks = tool("asks", (), async |(), _, _| {
        ToolOutcome::Interrupt(InterruptRequest::new("Really?"))
    });
    let agent = agent(two_calls("asks", "cancels"), [asks, cancels(&token)]);

    let run = agent.run("Go").cancel_token(token).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_closed(&run);
    assert_eq!(
        result_texts(run.messages())[0].1,
        "Error: the run ended before the call was answered"
    );
}

// C4, CT-6
#[tokio::test]
async fn a_handle_cancels_its_run_and_no_other_that_has_the_same_token() {
    let dropped = Counter::default();
    let token = CancellationToken::new();
    let one = agent(calls("hangs", json!({})), [hanging("hangs", &dropped)]);
    let other = agent(calls("hangs", json!({})), [hanging("hangs", &dropped)]);
    let mut one = one.run("Go").cancel_token(token.clone()).stream();
    let mut other = other.run("Go").cancel_token(token.clone()).stream();
    until_tool_started(&mut one).await;
    until_tool_started(&mut other).await;

    let handle = one.handle();
    std::thread::spawn(move || handle.cancel()).join().unwrap();
    let (_, error) = events(one).await;

    assert!(error.is_none());
    assert_eq!(dropped.get(), 1);
    assert!(!token.is_cancelled());
    drop(other);
    assert_eq!(dropped.get(), 2);
}
