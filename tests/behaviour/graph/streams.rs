//! What the stream of a graph tells: nodes, updates, values, and what nodes say themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::BoxError;
use agent_core::graph::{
    CompiledGraph, END, GraphEvent, GraphRun, KeyStrategy, NodeContext, START, State, StateError,
    StateGraph, StateUpdate, StreamMode,
};
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};

use super::{LOG, graph, log, logged, only};

async fn logs(_: State, context: NodeContext) -> Result<StateUpdate, StateError> {
    Ok(log(context.node()))
}

/// `first`, then `left` and `right` side by side, then `last`, which is a graph of `inner`.
fn branched() -> CompiledGraph {
    let inner = StateGraph::new()
        .node("inner", logs)
        .edge(START, "inner")
        .edge("inner", END);
    graph()
        .node("first", logs)
        .node("left", logs)
        .node("right", logs)
        .sub_graph("last", inner)
        .edge(START, "first")
        .edge("first", "left")
        .edge("first", "right")
        .edge("left", "last")
        .edge("right", "last")
        .edge("last", END)
        .compile()
        .unwrap()
}

async fn told(run: GraphRun, modes: impl IntoIterator<Item = StreamMode>) -> Vec<String> {
    let events = run.stream_modes(modes).stream();
    let told = events.map(|event| match event.unwrap() {
        GraphEvent::NodeStarted { node, .. } => format!("started {node}"),
        GraphEvent::NodeFinished { node, .. } => format!("finished {node}"),
        GraphEvent::StateUpdated { keys } => format!("updated {}", keys.join(",")),
        GraphEvent::Update { node, update } => {
            format!(
                "{node} wrote {}",
                update.value("log").unwrap_or(&Value::Null)
            )
        }
        GraphEvent::Values(state) => format!("values {:?}", logged(&state)),
        GraphEvent::Custom { node, value } => format!("{node} said {value}"),
        GraphEvent::Finished(_) => "end".to_owned(),
        other => format!("{other:?}"),
    });
    told.collect().await
}

#[tokio::test]
async fn updates_are_told_once_with_the_node_that_made_them() {
    let run = branched().run(log("input"));

    let told = told(run, [StreamMode::Updates]).await;

    assert_eq!(
        told,
        [
            "__START__ wrote [\"input\"]",
            "first wrote [\"first\"]",
            "left wrote [\"left\"]",
            "right wrote [\"right\"]",
            "last-inner wrote [\"inner\"]",
            "end",
        ]
    );
}

#[tokio::test]
async fn values_are_the_whole_state_after_each_step() {
    // RC-1: the streams of values and of snapshots are one.
    let told = told(branched().run(log("input")), [StreamMode::Values]).await;

    assert_eq!(
        told,
        [
            "values [\"input\"]",
            "values [\"input\", \"first\"]",
            "values [\"input\", \"first\", \"left\", \"right\"]",
            "values [\"input\", \"first\", \"left\", \"right\", \"inner\"]",
            "end",
        ]
    );
}

#[tokio::test]
async fn the_updates_of_a_stream_make_its_last_values() {
    let graph = branched();
    let modes = [StreamMode::Updates, StreamMode::Values];
    let mut events = graph.run(log("input")).stream_modes(modes).stream();
    let (mut folded, mut last) = (State::new(), State::new());
    while let Some(event) = events.next().await {
        match event.unwrap() {
            GraphEvent::Update { update, .. } => {
                graph.strategies().apply(&mut folded, update).unwrap();
            }
            GraphEvent::Values(state) => last = state,
            _ => {}
        }
    }

    let awaited = graph.run(log("input")).await.unwrap();
    assert_eq!(folded.to_value(), awaited.to_value());
    assert_eq!(last.to_value(), awaited.to_value());
}

#[tokio::test]
async fn without_modes_only_the_end_is_told() {
    assert_eq!(told(branched().run(()), []).await, ["end"]);
}

/// Says two things and writes one.
fn speaking() -> CompiledGraph {
    only(async |_: State, context: NodeContext| {
        context.emit(1).await;
        context.emit(json!({"two": 2})).await;
        Ok::<_, StateError>(log("spoke"))
    })
}

#[tokio::test]
async fn what_nodes_say_comes_in_order_between_their_beginning_and_end() {
    // gr.18, gr.21, in.5: what was said before comes before what follows.
    let run = speaking().run(());

    let told = told(run, [StreamMode::Nodes, StreamMode::Custom]).await;

    assert_eq!(
        told,
        [
            "started only",
            "only said 1",
            "only said {\"two\":2}",
            "finished only",
            "updated log",
            "end",
        ]
    );
}

#[tokio::test]
async fn by_default_nodes_and_what_they_say_are_told() {
    let mut events = speaking().run(()).stream();
    let mut said = 0;
    while let Some(event) = events.next().await {
        said += usize::from(matches!(event.unwrap(), GraphEvent::Custom { .. }));
    }

    assert_eq!(said, 2);
}

#[tokio::test]
async fn a_slow_reader_slows_the_node() {
    let said = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&said);
    let graph = only(move |_: State, context: NodeContext| {
        let counted = Arc::clone(&counted);
        async move {
            for number in 0..100 {
                context.emit(number).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, StateError>(StateUpdate::new())
        }
    });
    let mut events = graph.run(()).stream_modes([StreamMode::Custom]).stream();

    for taken in 0..10 {
        events.next().await.unwrap().unwrap();
        assert!(
            said.load(Ordering::Relaxed) <= taken + 1,
            "nothing piles up"
        );
    }
}

#[tokio::test]
async fn a_task_of_a_node_wakes_the_reader_and_is_dropped_with_the_run() {
    let late = Arc::new(tokio::sync::Notify::new());
    let (done, wait) = tokio::sync::oneshot::channel();
    let done = Arc::new(std::sync::Mutex::new(Some(done)));
    let over = Arc::clone(&late);
    let graph = only(move |_: State, context: NodeContext| {
        let (over, done) = (Arc::clone(&over), done.lock().unwrap().take());
        async move {
            let (said, heard) = tokio::sync::oneshot::channel();
            tokio::spawn(async move {
                context.emit("from a task").await;
                said.send(()).unwrap();
                over.notified().await;
                context.emit("too late").await;
                done.unwrap().send(()).unwrap();
            });
            heard.await?;
            Ok::<_, BoxError>(StateUpdate::new())
        }
    });
    let mut events = graph.run(()).stream_modes([StreamMode::Custom]).stream();

    let first = events.next().await.unwrap().unwrap();
    assert!(matches!(first, GraphEvent::Custom { value, .. } if value == "from a task"));
    let last = events.next().await.unwrap().unwrap();
    assert!(matches!(last, GraphEvent::Finished(_)));
    late.notify_one();
    wait.await.unwrap();
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn whoever_speaks_to_a_stream_that_is_gone_goes_on() {
    let (told, heard) = tokio::sync::oneshot::channel();
    let told = Arc::new(std::sync::Mutex::new(Some(told)));
    let graph = only(move |_: State, context: NodeContext| {
        let told = told.lock().unwrap().take();
        async move {
            tokio::spawn(async move {
                context.emit("nobody takes it").await;
                told.unwrap().send(()).unwrap();
            });
            std::future::pending::<()>().await;
            Ok::<_, StateError>(StateUpdate::new())
        }
    });
    let mut events = graph.run(()).stream_modes([StreamMode::Custom]).stream();
    assert!(events.next().now_or_never().is_none());
    tokio::task::yield_now().await;

    drop(events);

    heard.await.unwrap();
}

#[tokio::test]
async fn a_context_of_no_run_speaks_to_nobody() {
    NodeContext::new("alone").emit("anything").await;
}

#[tokio::test]
async fn of_branches_that_race_the_losers_words_are_told_and_its_updates_are_not_joined() {
    // gr.15
    let graph = StateGraph::new()
        .key(LOG, KeyStrategy::Append)
        .node("fast", logs)
        .node("slow", async |_: State, context: NodeContext| {
            context.emit("I began").await;
            std::future::pending::<()>().await;
            Ok::<_, StateError>(log("slow"))
        })
        .edge(START, "slow")
        .edge(START, "fast")
        .edge("fast", END)
        .edge("slow", END)
        .fan_out(START, agent_core::graph::FanOut::any())
        .compile()
        .unwrap();

    let told = told(graph.run(()), [StreamMode::Custom, StreamMode::Values]).await;

    assert_eq!(
        told,
        [
            "values []",
            "slow said \"I began\"",
            "values [\"fast\"]",
            "end"
        ]
    );
}

#[tokio::test]
async fn each_node_begins_and_ends_once() {
    // gr.16, PA-10
    let told = told(branched().run(()), [StreamMode::Nodes]).await;

    for node in ["first", "left", "right", "last-inner"] {
        for what in ["started", "finished"] {
            let event = format!("{what} {node}");
            let times = told.iter().filter(|told| **told == event).count();
            assert_eq!(times, 1, "{event} in {told:?}");
        }
    }
    let place = |event: &str| told.iter().position(|told| told == event);
    assert!(place("finished right") < place("started last-inner"));
}
