//! What a thread gives back: the very values it was given, or an error in time.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::graph::checkpoint::{
    CheckpointError, CheckpointSaver, MemorySaver, SaverError, Threads,
};
use agent_core::graph::{
    Answer, CompiledGraph, END, NodeContext, NodeOutput, RunError, START, State, StateGraph,
    StateUpdate,
};
use agent_core::model::scripted::{calls, says};
use agent_core::model::{ScriptedModel, Usage};
use agent_core::{AgentError, BoxError, ReactAgent, tool, tools};
use agent_tests::saver::{Access, Watched};
use serde_json::{Value, json};

/// Asks for a value, and keeps it.
fn keeping(saver: &MemorySaver) -> CompiledGraph {
    StateGraph::new()
        .node("ask", async |_: State, context: NodeContext| {
            Ok::<_, BoxError>(match context.answer::<Value>()? {
                None => NodeOutput::default().interrupt("A value?"),
                Some(value) => StateUpdate::new().put("value", value).into(),
            })
        })
        .edge(START, "ask")
        .edge("ask", END)
        .compile()
        .unwrap()
        .saver(saver.clone())
}

/// Lists in each other.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |value, _| json!([value]))
}

fn refused<T>(result: Result<T, RunError>) -> CheckpointError {
    match result.map(drop) {
        Err(RunError::Checkpoint { source, .. }) => *source,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_number_is_read_as_the_very_number_that_was_written() {
    let numbers: Vec<f64> = (1..2_000).map(|n| f64::from(n).ln() * 1e-7).collect();
    let numbers = json!([numbers, i64::MIN, u64::MAX, -0.0, f64::MAX, 5e-324]);
    let saver = MemorySaver::new();
    let graph = StateGraph::new()
        .node("end", async |_: State| Ok::<_, BoxError>(()))
        .edge(START, "end")
        .edge("end", END)
        .compile()
        .unwrap();
    let given = StateUpdate::new().put("value", numbers.clone());
    let run = graph.run(given).thread("t1").saver(saver.clone());
    run.await.unwrap();

    let state = Threads::new(saver).state("t1", None).await.unwrap();

    assert_eq!(state.unwrap().value("value"), Some(&numbers));
}

#[tokio::test]
async fn a_value_that_could_not_be_read_again_is_refused_by_its_name_and_can_be_given_anew() {
    let saver = MemorySaver::new();
    let graph = keeping(&saver);
    graph.run(()).thread("t1").await.unwrap_err();
    let id = "t1:ask:1:0";

    let error = refused(graph.resume("t1", [Answer::new(id, nested(200))]).await);

    let CheckpointError::Encode { source, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(source.to_string().contains(id), "{source}");
    let deep = nested(100);
    let state = graph.resume("t1", [Answer::new(id, deep.clone())]).await;
    assert_eq!(state.unwrap().value("value"), Some(&deep));
    // It is read from each place where it may stand.
    let threads = Threads::new(saver);
    threads.retain("t1", 1).await.unwrap();
    let kept = threads.state("t1", None).await.unwrap().unwrap();
    assert_eq!(kept.value("value"), Some(&deep));
}

#[tokio::test]
async fn a_state_that_could_not_be_read_again_ends_the_run_and_the_thread_stays() {
    let saver = MemorySaver::new();
    let graph = keeping(&saver);
    graph.run(()).thread("t1").await.unwrap_err();

    let edit = StateUpdate::new().put("notes", json!({"text": nested(130)}));
    let error = refused(graph.update_state("t1", edit).await);

    let CheckpointError::Encode { source, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(source.to_string().contains("`notes`"), "{source}");
    let answer = [Answer::new("t1:ask:1:0", 1)];
    let state = graph.resume("t1", answer).await.unwrap();
    assert_eq!(state.to_value(), json!({"value": 1}));
}

/// Has no room from its commit of this number on.
fn full_from(commit: usize) -> impl CheckpointSaver {
    let commits = AtomicUsize::new(1);
    Watched::new(move |access| {
        access != Access::Commit || commits.fetch_add(1, Ordering::SeqCst) < commit
    })
}

/// Pays a sum.
#[tool]
async fn pay(sum: u32) -> String {
    tokio::task::yield_now().await;
    format!("paid {sum}")
}

#[tokio::test]
async fn a_run_whose_store_fails_tells_why_whichever_call_of_it_comes_first() {
    for commits in 1..6 {
        let turn = (2..5).fold(calls("pay", json!({"sum": 1})), |turn, sum| {
            turn.and_calls("pay", json!({"sum": sum}))
        });
        let turn = turn.with_usage(Usage::new(7, 1));
        let agent = ReactAgent::builder("assistant", ScriptedModel::new([turn, says("Done.")]))
            .tools(tools![pay])
            .parallel_tool_execution(true)
            .saver(full_from(commits))
            .build()
            .unwrap();

        let error = agent.run("Pay.").thread("t1").await.unwrap_err();

        // What was paid for is not lost.
        let usage = error.output().unwrap().usage();
        assert_eq!(usage.input_tokens > 0, commits > 1);
        let AgentError::Thread { source, .. } = error else {
            panic!("{error:?}");
        };
        let CheckpointError::Saver(SaverError::Unavailable { source, .. }) = *source else {
            panic!("{source:?}");
        };
        assert!(source.to_string().contains("no space left"), "{source}");
    }
}
