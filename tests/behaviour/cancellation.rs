//! What stops a run, and that nothing goes on behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use agent_core::agent::Limit;
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::model::scripted::{calls, hangs, says};
use agent_core::model::{OpenAi, ScriptedModel};
use agent_core::{
    Host, Message, Outcome, ReactAgent, RunOutput, ToolContext, ToolError, tool, tools,
};
use agent_tests::replay::{Answer, ReplayServer};
use serde_json::json;
use tokio::sync::Notify;

/// Set once the future that holds it is gone.
type Dropped = Arc<AtomicBool>;

struct Flag(Dropped);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Begins, says so, and never ends.
#[tool]
async fn hang(dropped: Host<Dropped>, begun: Host<Arc<Notify>>) -> String {
    let _flag = Flag(Arc::clone(&dropped));
    begun.notify_one();
    std::future::pending().await
}

fn agent(dropped: &Dropped, begun: &Arc<Notify>, parallel: bool) -> ReactAgent {
    let model = ScriptedModel::new([
        calls("hang", json!({})).and_calls("hang", json!({})),
        says("Never said."),
    ]);
    ReactAgent::builder("a", model)
        .tools(tools![hang])
        .host(Arc::clone(dropped))
        .host(Arc::clone(begun))
        .parallel_tool_execution(parallel)
        .build()
        .unwrap()
}

fn tool_texts(output: &RunOutput) -> Vec<String> {
    let results = output.messages().iter().flat_map(Message::tool_results);
    results.map(agent_core::message::ToolResult::text).collect()
}

// C4, E1
#[tokio::test]
async fn a_fired_token_stops_the_tools_and_leaves_a_closed_history() {
    let (dropped, begun, token) = (
        Dropped::default(),
        Arc::new(Notify::new()),
        CancellationToken::new(),
    );
    let run = agent(&dropped, &begun, false)
        .run("Go.")
        .cancel_token(token.clone());

    let (output, ()) = tokio::join!(run.into_future(), async {
        begun.notified().await;
        token.cancel();
    });

    let output = output.unwrap();
    assert_eq!(*output.outcome(), Outcome::Cancelled);
    assert!(dropped.load(Ordering::SeqCst));
    assert!(output.state().transcript().is_closed());
    assert_eq!(
        tool_texts(&output),
        [
            "Error: cancelled while it ran; it may have run in part",
            "Error: cancelled before it started"
        ]
    );
}

// C4, ex-09, ct.8
#[tokio::test]
async fn dropping_the_stream_drops_every_async_tool_at_once() {
    for parallel in [false, true] {
        let (dropped, begun) = (Dropped::default(), Arc::new(Notify::new()));
        let mut events = agent(&dropped, &begun, parallel).run("Go.").stream();
        while let Some(event) = events.next().await {
            if matches!(event.unwrap().kind, EventKind::ToolStarted { .. }) {
                break;
            }
        }
        // The call has begun once the stream waits for it.
        tokio::select! {
            () = begun.notified() => {}
            _ = async { while events.next().await.is_some() {} } => {}
        }
        assert!(!dropped.load(Ordering::SeqCst));

        drop(events);

        assert!(dropped.load(Ordering::SeqCst));
    }
}

// C4
#[tokio::test]
async fn a_fired_token_stops_the_model_request() {
    let token = CancellationToken::new();
    let model = ScriptedModel::new([hangs().and_says("Let me think")]);
    let agent = ReactAgent::builder("a", model).build().unwrap();

    let mut events = agent.run("Go.").cancel_token(token.clone()).stream();
    let mut last = None;
    while let Some(event) = events.next().await {
        match event.unwrap().kind {
            EventKind::TextDelta(_) => token.cancel(),
            EventKind::RunFinished(output) => last = Some(output),
            _ => {}
        }
    }

    let output = last.unwrap();
    assert_eq!(*output.outcome(), Outcome::Cancelled);
    assert_eq!(output.messages().len(), 1);
}

// C4
#[tokio::test]
async fn dropping_the_run_closes_the_connection_to_the_server() {
    let answer =
        Answer::events("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n")
            .then_hang();
    let server = ReplayServer::start([answer]).await;
    let model = OpenAi::builder()
        .base_url(server.url())
        .model("m")
        .build()
        .unwrap();
    let agent = ReactAgent::builder("a", model).build().unwrap();

    let mut events = agent.run("Go.").stream();
    while let Some(event) = events.next().await {
        if matches!(event.unwrap().kind, EventKind::TextDelta(_)) {
            break;
        }
    }
    drop(events);

    server.closed().await;
}

/// Blocks until its token is fired.
#[tool(timeout = "100ms")]
fn block(context: &ToolContext, stopped: &Host<mpsc::Sender<()>>) -> Result<(), ToolError> {
    while context.check_cancelled().is_ok() {
        std::thread::yield_now();
    }
    let _ = stopped.send(());
    Err(ToolError::cancelled())
}

// C4, ct.6
#[tokio::test]
async fn a_blocking_tool_over_its_time_is_told_by_its_token() {
    let (stopped, seen) = mpsc::channel::<()>();
    let model = ScriptedModel::new([calls("block", json!({})), says("Done.")]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![block])
        .host(stopped)
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();

    assert_eq!(tool_texts(&output), ["Error: timed out after 100 ms"]);
    assert!(seen.recv_timeout(Duration::from_secs(10)).is_ok());
}

#[tool(timeout = "10ms")]
async fn with_callbacks(context: &ToolContext, count: Host<Arc<AtomicUsize>>) -> String {
    let (first, second) = (Arc::clone(&count), Arc::clone(&count));
    let _panics = context.on_cancel(|| panic!("a callback's own fault"));
    let _first = context.on_cancel(move || {
        first.fetch_add(1, Ordering::SeqCst);
    });
    let _second = context.on_cancel(move || {
        second.fetch_add(10, Ordering::SeqCst);
    });
    let taken_back = context.on_cancel({
        let count = Arc::clone(&count);
        move || {
            count.fetch_add(100, Ordering::SeqCst);
        }
    });
    drop(taken_back);
    std::future::pending().await
}

// C4, CT-3, CT-4, ct.3
#[tokio::test(start_paused = true)]
async fn every_callback_runs_once_even_if_one_panics() {
    let count = Arc::new(AtomicUsize::new(0));
    let model = ScriptedModel::new([calls("with_callbacks", json!({})), says("Done.")]);
    let agent = ReactAgent::builder("a", model)
        .tools(tools![with_callbacks])
        .host(Arc::clone(&count))
        .build()
        .unwrap();

    agent.run("Go.").await.unwrap();

    assert_eq!(count.load(Ordering::SeqCst), 11);
}

// B9
#[tokio::test(start_paused = true)]
async fn a_run_over_its_deadline_ends_with_that_limit_and_a_closed_history() {
    let (dropped, begun) = (Dropped::default(), Arc::new(Notify::new()));
    let agent = agent(&dropped, &begun, true);

    let output = agent
        .run("Go.")
        .deadline(Duration::from_secs(2))
        .await
        .unwrap();

    assert_eq!(*output.outcome(), Outcome::LimitReached(Limit::Deadline));
    assert!(output.state().transcript().is_closed());
    assert_eq!(tool_texts(&output), ["Error: timed out after 2 s"; 2]);
}
