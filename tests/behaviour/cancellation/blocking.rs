//! What a tool is told when its call ends early.

use std::sync::mpsc;
use std::time::Duration;

use agent_core::graph::CancellationToken;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{Outcome, ReactAgent, ToolContext, ToolError, tools};
use agent_tests::runs::result_texts;
use agent_tests::tools::{Counter, tool};
use serde_json::json;

use super::{SOON, agent, assert_closed, cancels, two_calls};

/// Where a blocking tool says how far it is.
type Said = mpsc::SyncSender<&'static str>;

/// Says that it started, waits for its token, and says that it saw it.
#[agent_core::tool(register = false)]
fn watches_its_token(context: &ToolContext) -> String {
    let said = context.host::<Said>().unwrap();
    let (cancelled, wait) = mpsc::channel();
    let _guard = context.on_cancel(move || cancelled.send(()).unwrap());
    said.send("started").unwrap();
    wait.recv().unwrap();
    let seen = context.check_cancelled().is_err() && context.cancellation().is_cancelled();
    said.send(if seen { "seen" } else { "not seen" }).unwrap();
    "late".to_owned()
}

/// Asks its token again and again until that tells it to stop.
#[agent_core::tool(register = false, timeout = "20ms")]
fn asks_its_token(context: &ToolContext) -> Result<(), ToolError> {
    let said = context.host::<Said>().unwrap();
    said.send("started").unwrap();
    loop {
        if let Err(error) = context.check_cancelled() {
            said.send("stopped").unwrap();
            return Err(error);
        }
        std::thread::yield_now();
    }
}

// C2, C4, CT-3, ct.6. The paused clock stands while a thread of the pool is busy.
#[tokio::test(start_paused = true)]
async fn a_blocking_tool_that_asks_its_token_stops_when_its_time_is_over() {
    let (said, hear) = mpsc::sync_channel(2);
    let model = ScriptedModel::new([calls("asks_its_token", json!({})), says("done")]);
    let agent = ReactAgent::builder("assistant", model)
        .tools(tools![asks_its_token])
        .host(said)
        .build()
        .unwrap();
    let time_passes = async {
        let (first, hear) = heard(hear).await;
        assert_eq!(first, "started");
        tokio::time::advance(Duration::from_millis(20)).await;
        hear
    };

    let (run, hear) = tokio::join!(agent.run("Go").into_future(), time_passes);

    assert_eq!(
        result_texts(run.unwrap().messages())[0].1,
        "Error: timed out after 20 ms"
    );
    assert_eq!(heard(hear).await.0, "stopped");
}

fn blocking_agent() -> (ReactAgent, mpsc::Receiver<&'static str>) {
    let (said, hear) = mpsc::sync_channel(2);
    let model = ScriptedModel::new([calls("watches_its_token", json!({})), says("done")]);
    let agent = ReactAgent::builder("assistant", model)
        .tools(tools![watches_its_token])
        .host(said);
    (agent.build().unwrap(), hear)
}

/// Polls the run while another thread listens, and gives what was heard first.
async fn heard(hear: mpsc::Receiver<&'static str>) -> (&'static str, mpsc::Receiver<&'static str>) {
    let heard = tokio::task::spawn_blocking(move || (hear.recv().unwrap(), hear));
    heard.await.unwrap()
}

// C4, CT-6, ct.8
#[tokio::test]
async fn a_blocking_tool_sees_that_its_run_was_dropped() {
    let (agent, hear) = blocking_agent();
    let run = agent.run("Go").into_future();

    let hear = tokio::select! {
        run = run => panic!("{run:?}"),
        (first, hear) = heard(hear) => {
            assert_eq!(first, "started");
            hear
        }
    };

    assert_eq!(heard(hear).await.0, "seen");
}

// C4, C2, CT-3, CT-6
#[tokio::test]
async fn a_blocking_tool_sees_that_its_run_was_cancelled() {
    let (agent, hear) = blocking_agent();
    let token = CancellationToken::new();
    let cancel = async {
        let (_, hear) = heard(hear).await;
        token.cancel();
        hear
    };

    let (run, hear) = tokio::join!(agent.run("Go").cancel_token(token.clone()), cancel);

    assert_eq!(heard(hear).await.0, "seen");
    let run = run.unwrap();
    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_closed(&run);
}

// C4, CT-4, ct.3
#[tokio::test(start_paused = true)]
async fn each_callback_runs_once_even_if_another_panics() {
    let fired = Counter::default();
    let waits = tool(
        "waits",
        fired.clone(),
        async |fired, _, context: ToolContext| {
            let (first, last) = (fired.clone(), fired);
            let _guards = (
                context.on_cancel(move || _ = first.add()),
                context.on_cancel(|| panic!("a callback of the test")),
                context.on_cancel(move || _ = last.add()),
            );
            std::future::pending::<()>().await;
        },
    );
    let token = CancellationToken::new();
    let tools = [waits, cancels(&token)];

    let run = agent(two_calls("waits", "cancels"), tools)
        .run("Go")
        .cancel_token(token);
    run.await.unwrap();

    assert_eq!(fired.get(), 2);
}

// C4, C2, CT-3
#[tokio::test(start_paused = true)]
async fn callbacks_run_when_a_call_times_out() {
    let fired = Counter::default();
    let waits = tool(
        "waits",
        fired.clone(),
        async |fired, _, context: ToolContext| {
            let _guard = context.on_cancel(move || _ = fired.add());
            std::future::pending::<()>().await;
        },
    );

    let waits = waits.timeout(SOON);
    agent(calls("waits", json!({})), [waits])
        .run("Go")
        .await
        .unwrap();

    assert_eq!(fired.get(), 1);
}

// C4
#[tokio::test(start_paused = true)]
async fn a_callback_does_not_run_after_its_guard_is_gone() {
    let fired = Counter::default();
    let waits = tool(
        "waits",
        fired.clone(),
        async |fired, _, context: ToolContext| {
            drop(context.on_cancel(move || _ = fired.add()));
            std::future::pending::<()>().await;
        },
    );

    let waits = waits.timeout(SOON);
    agent(calls("waits", json!({})), [waits])
        .run("Go")
        .await
        .unwrap();

    assert_eq!(fired.get(), 0);
}
