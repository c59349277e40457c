//! What a step of a graph costs, and how long a thread takes to go on.
//!
//! `cargo bench -p agent-tests --bench graph`. Wall time, the least of several rounds. Threads are
//! kept in memory, in a file in the folder of temporary files, and on the server that
//! `AGENT_TEST_POSTGRES_URL` names, if it is set.
#![allow(missing_docs, reason = "a program of its own")]
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::graph::checkpoint::{CheckpointSaver, Durability, MemorySaver, Threads};
use agent_core::graph::{
    CompiledGraph, END, GraphError, GraphRun, START, State, StateError, StateGraph, StateUpdate,
    StreamMode,
};
use agent_core::model::FunctionModel;
use agent_core::model::scripted::says;
use agent_core::{Message, ReactAgent};
use agent_store::{PostgresSaver, SqliteSaver};
use serde_json::json;

type Fallible<T> = Result<T, Box<dyn Error>>;

const ROUNDS: u32 = 5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Fallible<()> {
    steps().await?;
    threads().await
}

async fn steps() -> Fallible<()> {
    println!("no-op node in a loop        steps   awaited  streamed");
    for steps in [1_000, 10_000, 100_000] {
        let graph = counting(steps)?;
        let run = || graph.run(()).step_limit(steps + 1);
        let awaited = least(async || drop(run().await)).await;
        let streamed = least(async || drain(run()).await).await;
        let (awaited, streamed) = (each(awaited, steps), each(streamed, steps));
        println!("                          {steps:>7}  {awaited}  {streamed}");
    }
    println!("fan-out over no-op nodes  branches  a branch   all");
    for branches in [1, 10, 100] {
        let graph = fan_out(branches)?;
        const TIMES: u64 = 200;
        let spent = least(async || {
            for _ in 0..TIMES {
                drop(graph.run(()).await);
            }
        });
        let spent = spent.await;
        let (one, all) = (each(spent, TIMES * branches), each(spent, TIMES));
        println!("                          {branches:>7}  {one}  {all}");
    }
    Ok(())
}

/// A node that counts, as often as it is told.
fn counting(steps: u64) -> Result<CompiledGraph, GraphError> {
    StateGraph::new()
        .node("count", async |state: State| {
            let count = state.value("count").and_then(|count| count.as_u64());
            let next = json!(count.unwrap_or_default() + 1);
            Ok::<_, StateError>(StateUpdate::new().put("count", next))
        })
        .edge(START, "count")
        .conditional_edges(
            "count",
            move |state: &State| match state.value("count").and_then(|count| count.as_u64()) {
                Some(count) if count < steps => "count",
                _ => END,
            },
            ["count", END],
        )
        .compile()
}

fn fan_out(branches: u64) -> Result<CompiledGraph, GraphError> {
    let no_op = async |_: State| Ok::<_, StateError>(());
    let mut graph = StateGraph::new().node("join", no_op).edge("join", END);
    for branch in 0..branches {
        let name = format!("branch {branch}");
        graph = graph.node(name.as_str(), no_op);
        graph = graph.edge(START, name.as_str()).edge(name, "join");
    }
    graph.compile()
}

async fn drain(run: GraphRun) {
    let mut events = run.stream_modes([StreamMode::Nodes]).stream();
    while events.next().await.is_some() {}
}

async fn least(mut work: impl AsyncFnMut()) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        work().await;
        least = least.min(began.elapsed());
    }
    least
}

fn each(spent: Duration, times: u64) -> String {
    format!("{:>6.2} µs", spent.as_secs_f64() * 1e6 / times as f64)
}

async fn threads() -> Fallible<()> {
    println!(
        "thread     messages    written  bytes/step    state  next turn  cut: state  next turn"
    );
    let file = std::env::temp_dir().join(format!("agent-bench-{}.db", std::process::id()));
    let mut savers: Vec<(&str, Arc<dyn CheckpointSaver>)> = vec![
        ("memory", Arc::new(MemorySaver::new())),
        ("sqlite", Arc::new(SqliteSaver::open(&file).await?)),
    ];
    if let Ok(url) = std::env::var("AGENT_TEST_POSTGRES_URL") {
        let schema = format!("agent_bench_{}", std::process::id());
        let saver = PostgresSaver::builder(url).schema(schema).connect();
        savers.push(("postgres", Arc::new(saver.await?)));
    }
    for (name, saver) in savers {
        for messages in [10, 100, 1_000, 10_000] {
            thread(name, &saver, messages).await?;
        }
    }
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    let _ = std::fs::remove_dir_all(format!("{}-locks", file.display()));
    Ok(())
}

async fn thread(name: &str, saver: &Arc<dyn CheckpointSaver>, messages: u64) -> Fallible<()> {
    let threads = Threads::new(Arc::clone(saver));
    let id = format!("thread {messages}");
    let steps = messages / 2;
    let began = Instant::now();
    let spoken = speaking(steps)?;
    let run = spoken.run(()).thread(id.as_str()).saver(Arc::clone(saver));
    run.durability(Durability::EachStep)
        .step_limit(steps + 1)
        .await?;
    let written = each(began.elapsed(), steps);
    let listed = saver.list(&id, None, usize::MAX).await?;
    let bytes: usize = listed.iter().map(|it| it.payload.len()).sum();
    let per_step = bytes as u64 / steps;

    let (state, turn) = go_on(saver, &threads, &id).await?;
    threads.retain(&id, 1).await?;
    let (cut_state, cut_turn) = go_on(saver, &threads, &id).await?;
    println!(
        "{name:<9}  {messages:>8}  {written}  {per_step:>10}  {state}  {turn}  {cut_state}  {cut_turn}"
    );
    threads.delete(&id).await?;
    Ok(())
}

/// How long it takes to read a thread, and to take a turn on it.
async fn go_on(
    saver: &Arc<dyn CheckpointSaver>,
    threads: &Threads,
    id: &str,
) -> Fallible<(String, String)> {
    let model = FunctionModel::new(|_| says("An answer."));
    let agent = ReactAgent::builder("assistant", model)
        .saver(Arc::clone(saver))
        .build()?;
    let (mut state, mut turn) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let read = threads.state(id, None).await?;
        state = state.min(began.elapsed());
        drop(read);
        let began = Instant::now();
        agent.run("A question?").thread(id).await?;
        turn = turn.min(began.elapsed());
    }
    let millis = |spent: Duration| format!("{:>6.2} ms", spent.as_secs_f64() * 1e3);
    Ok((millis(state), millis(turn)))
}

/// A question and an answer with each step.
fn speaking(steps: u64) -> Result<CompiledGraph, GraphError> {
    let text = "What somebody says, about as long as people and models mostly are. ".repeat(3);
    StateGraph::new()
        .node("speak", move |_: State| {
            let said = vec![
                Message::user(text.as_str()),
                Message::assistant(text.as_str()),
            ];
            async move { Ok::<_, StateError>(StateUpdate::from(said)) }
        })
        .edge(START, "speak")
        .conditional_edges(
            "speak",
            move |state: &State| match (state.messages().len() as u64) < 2 * steps {
                true => "speak",
                false => END,
            },
            ["speak", END],
        )
        .compile()
}
