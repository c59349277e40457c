//! What running tool calls costs, and how soon a cancelled run is gone.
//!
//! `cargo bench -p agent-tests --bench calls`. All cells of a table are from one run of it.
#![allow(missing_docs, reason = "a program of its own")]
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::graph::CancellationToken;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{Turn, says};
use agent_core::{ReactAgent, tool, tools};
use agent_tests::tools::Counter;
use serde_json::json;
use tokio::sync::Notify;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Does nothing.
#[tool(register = false)]
async fn no_op(city: &str) -> String {
    city.to_owned()
}

/// Takes 200 ms.
#[tool(register = false)]
async fn slow() {
    tokio::time::sleep(Duration::from_millis(200)).await;
}

/// Counts that it is gone.
struct Gone(Arc<Notify>, Counter);

impl Drop for Gone {
    fn drop(&mut self) {
        self.1.add();
        self.0.notify_one();
    }
}

fn agent(name: &str, calls: usize, parallel: bool) -> Fallible<ReactAgent> {
    let turn = (0..calls).fold(Turn::default(), |turn, _| {
        turn.and_calls(name, json!({"city": "Oslo"}))
    });
    // A turn without any calls would be an empty answer.
    let turns = [turn].into_iter().filter(|_| calls > 0);
    let model = ScriptedModel::new(turns.chain([says("Done.")]));
    let agent = ReactAgent::builder("bench", model)
        .tools(tools![no_op, slow])
        .parallel_tool_execution(parallel)
        .max_parallel_tools(64)
        .build()?;
    Ok(agent)
}

async fn mean(agents: Vec<ReactAgent>) -> Fallible<Duration> {
    let rounds = u32::try_from(agents.len())?;
    let start = Instant::now();
    for agent in agents {
        black_box(agent.run("Go").await?);
    }
    Ok(start.elapsed() / rounds)
}

/// The time a turn takes per call, beyond a turn without any and the function itself.
async fn overhead(calls: usize, parallel: bool) -> Fallible<Duration> {
    const ROUNDS: usize = 2000;
    let empty = mean(
        (0..ROUNDS)
            .map(|_| agent("no_op", 0, parallel))
            .collect::<Fallible<_>>()?,
    )
    .await?;
    let whole = mean(
        (0..ROUNDS)
            .map(|_| agent("no_op", calls, parallel))
            .collect::<Fallible<_>>()?,
    )
    .await?;
    Ok(whole.saturating_sub(empty) / u32::try_from(calls)?)
}

async fn direct() -> Duration {
    const ROUNDS: u32 = 1_000_000;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(no_op(black_box("Oslo")).await);
    }
    start.elapsed() / ROUNDS
}

/// From the token's cancel to the drop of the last of eight tools.
async fn cancel() -> Fallible<Duration> {
    let (all, gone) = (Arc::new(Notify::new()), Counter::default());
    let began = Counter::default();
    let hangs = {
        let shared = (Arc::clone(&all), gone.clone(), began.clone());
        agent_tests::tools::tool("hangs", shared, async |(all, gone, began), _, _| {
            let _gone = Gone(all, gone);
            began.add();
            std::future::pending::<()>().await;
        })
    };
    let turn = (0..8).fold(Turn::default(), |turn, _| {
        turn.and_calls("hangs", json!({}))
    });
    let agent = ReactAgent::builder("bench", ScriptedModel::new([turn, says("Done.")]))
        .tools(hangs)
        .parallel_tool_execution(true)
        .max_parallel_tools(8)
        .build()?;
    let token = CancellationToken::new();
    let run = tokio::spawn(agent.run("Go").cancel_token(token.clone()).into_future());
    while began.get() < 8 {
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    token.cancel();
    while gone.get() < 8 {
        all.notified().await;
    }
    let taken = start.elapsed();
    run.await??;
    Ok(taken)
}

async fn measure() -> Fallible<()> {
    println!("awaiting the function itself: {:?}", direct().await);
    println!("calls  mode      overhead per call");
    for calls in [1, 8, 64] {
        for parallel in [false, true] {
            let mode = if parallel { "parallel" } else { "serial" };
            println!(
                "{calls:>5}  {mode:<8}  {:?}",
                overhead(calls, parallel).await?
            );
        }
    }
    let start = Instant::now();
    agent("slow", 8, true)?.run("Go").await?;
    println!("8 tools of 200 ms side by side: {:?}", start.elapsed());
    let mut times = Vec::new();
    for _ in 0..1000 {
        times.push(cancel().await?);
    }
    times.sort_unstable();
    println!(
        "cancel to the last tool's end: median {:?}, p99 {:?}",
        times[500], times[990]
    );
    Ok(())
}

fn main() -> Fallible<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()?;
    runtime.block_on(measure())
}
