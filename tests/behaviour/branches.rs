//! Branches of a graph, and graphs inside of graphs.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::BoxError;
use agent_core::graph::{
    CompiledGraph, END, FanOut, GraphEvent, GraphRun, KeyStrategy, NodeContext, NodeOutput,
    RunError, START, State, StateError, StateGraph, StateKey, StateUpdate,
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::{Instant, sleep};

const LOG: StateKey<Vec<String>> = StateKey::new("log");

fn log(text: &str) -> StateUpdate {
    StateUpdate::new().with(LOG, vec![text.to_owned()])
}

fn logged(state: &State) -> Vec<String> {
    state.get(&LOG).unwrap().unwrap_or_default()
}

/// Logs its name.
async fn says(_: State, context: NodeContext) -> Result<StateUpdate, BoxError> {
    Ok(log(context.node()))
}

/// A node that logs its name after a while.
fn after(
    millis: u64,
) -> impl Fn(State, NodeContext) -> agent_core::BoxFuture<'static, Result<StateUpdate, BoxError>>
+ Send
+ Sync
+ 'static {
    move |_, context| {
        Box::pin(async move {
            sleep(Duration::from_millis(millis)).await;
            Ok(log(context.node()))
        })
    }
}

async fn fails(_: State) -> Result<StateUpdate, BoxError> {
    Err("no".into())
}

fn graph(names: &[&str]) -> StateGraph {
    let graph = StateGraph::new().key(LOG, KeyStrategy::Append);
    names
        .iter()
        .fold(graph, |graph, name| graph.node(*name, says))
}

/// The names of the nodes that ran, as they began.
async fn nodes(run: GraphRun) -> Vec<String> {
    let events = run.stream().filter_map(async |event| match event.unwrap() {
        GraphEvent::NodeStarted { node, .. } => Some(node.to_string()),
        _ => None,
    });
    events.collect().await
}

fn faults(graph: StateGraph) -> Vec<String> {
    let error = graph.compile().unwrap_err();
    error.faults().iter().map(ToString::to_string).collect()
}

#[tokio::test(start_paused = true)]
async fn branches_run_side_by_side_and_join_in_the_order_of_their_edges() {
    // gr.8, gr.9, gr.13, PA-3, PA-4, PA-5
    let graph = graph(&["a", "b", "c"])
        .node("slow", after(300))
        .node("quick", after(100))
        .node("seen", async |state: State| {
            sleep(Duration::from_millis(200)).await;
            Ok::<_, StateError>(log(&format!("seen {}", logged(&state).len())))
        })
        .edge(START, "a")
        .edge("a", "slow")
        .edge("a", "quick")
        .edge("a", "seen")
        .edge("slow", "b")
        .edge("quick", "b")
        .edge("seen", "b")
        .edge("b", "c")
        .edge("c", END)
        .compile()
        .unwrap();
    let began = Instant::now();

    let state = graph.run(()).await.unwrap();

    assert_eq!(logged(&state), ["a", "slow", "quick", "seen 1", "b", "c"]);
    assert_eq!(began.elapsed(), Duration::from_millis(300));
}

#[tokio::test]
async fn branches_can_part_at_the_start_and_meet_at_the_end() {
    // gr.9
    let graph = graph(&["a", "b"])
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .compile()
        .unwrap();

    assert_eq!(logged(&graph.run(()).await.unwrap()), ["a", "b"]);
}

#[tokio::test]
async fn a_branch_may_be_several_nodes_long_and_loop_and_part_again() {
    // PA-11; what PA-1, PA-2 and gr.10 refuse runs here
    let graph = graph(&["s", "a1", "a2", "b1", "b2", "b3", "b4", "join"])
        .edge(START, "s")
        .edge("s", "a1")
        .edge("s", "b1")
        .conditional_edges(
            "a1",
            |state: &State| match logged(state).iter().filter(|name| *name == "a1").count() {
                3 => "a2",
                _ => "a1",
            },
            ["a1", "a2"],
        )
        .edge("a2", "join")
        .edge("b1", "b2")
        .edge("b1", "b3")
        .edge("b2", "b4")
        .edge("b3", "b4")
        .edge("b4", "join")
        .edge("join", END)
        .compile()
        .unwrap();

    let state = graph.run(()).await.unwrap();

    let expected = ["s", "a1", "a1", "a1", "a2", "b1", "b2", "b3", "b4", "join"];
    assert_eq!(logged(&state), expected);
}

#[tokio::test]
async fn a_branch_may_lead_straight_to_the_join() {
    let graph = graph(&["s", "a", "join"])
        .edge(START, "s")
        .edge("s", "a")
        .edge("s", "join")
        .edge("a", "join")
        .edge("join", END)
        .compile()
        .unwrap();

    assert_eq!(logged(&graph.run(()).await.unwrap()), ["s", "a", "join"]);
}

#[tokio::test]
async fn a_router_may_choose_several_branches() {
    // gr.11, PA-9
    let graph = graph(&["s", "a", "b", "c", "join"])
        .edge(START, "s")
        .conditional_edges(
            "s",
            |state: &State| {
                let wanted = state.value("wanted").and_then(Value::as_array).unwrap();
                let wanted = wanted.iter().map(|name| name.as_str().unwrap().to_owned());
                wanted.collect::<Vec<String>>()
            },
            ["a", "b", "c"],
        )
        .edge("a", "join")
        .edge("b", "join")
        .edge("c", "join")
        .edge("join", END)
        .compile()
        .unwrap();

    for (wanted, expected) in [
        (json!(["a", "b", "c"]), &["s", "a", "b", "c", "join"][..]),
        (json!(["c", "a"]), &["s", "c", "a", "join"]),
        (json!(["b", "b"]), &["s", "b", "join"]),
    ] {
        let update = StateUpdate::new().put("wanted", wanted);
        assert_eq!(logged(&graph.run(update).await.unwrap()), expected);
    }
    let nothing = StateUpdate::new().put("wanted", json!([]));
    let error = graph.run(nothing).await.unwrap_err();
    assert!(matches!(error, RunError::Router { .. }));
    let unknown = StateUpdate::new().put("wanted", json!(["a", "z"]));
    let error = graph.run(unknown).await.unwrap_err();
    assert!(matches!(error, RunError::UnknownRoute { route, .. } if route == "z"));
}

fn each(items: Vec<i64>, how: FanOut) -> CompiledGraph {
    graph(&["plan", "collect"])
        .node("square", async |state: State| {
            let item = state.value("item").and_then(Value::as_i64).unwrap();
            Ok::<_, BoxError>(log(&(item * item).to_string()))
        })
        .node("check", says)
        .edge(START, "plan")
        .for_each("plan", "square", "collect", move |_: &State| {
            let items = items
                .iter()
                .map(|item| StateUpdate::new().put("item", json!(item)));
            Ok::<_, StateError>(items.collect())
        })
        .fan_out("plan", how)
        .edge("square", "check")
        .edge("check", "collect")
        .edge("collect", END)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn there_is_a_branch_for_each_item_of_a_list() {
    let graph = each(vec![2, 3, 4], FanOut::all());

    let state = graph.run(()).await.unwrap();

    let expected = ["plan", "4", "check", "9", "check", "16", "check", "collect"];
    assert_eq!(logged(&state), expected);
    // What a branch is told it alone sees.
    assert_eq!(state.value("item"), None);
    let state = each(Vec::new(), FanOut::all()).run(()).await.unwrap();
    assert_eq!(logged(&state), ["plan", "collect"]);
}

#[tokio::test]
async fn no_more_branches_run_at_once_than_are_allowed() {
    // PA-7
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let graph = graph(&["plan", "end"])
        .node("work", async |_: State| {
            let running = RUNNING.fetch_add(1, Ordering::SeqCst) + 1;
            MOST.fetch_max(running, Ordering::SeqCst);
            tokio::task::yield_now().await;
            RUNNING.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, StateError>(log("x"))
        })
        .edge(START, "plan")
        .for_each("plan", "work", "end", |_: &State| {
            Ok::<_, StateError>(vec![StateUpdate::new(); 20])
        })
        .fan_out("plan", FanOut::all().max_concurrency(3))
        .edge("work", "end")
        .edge("end", END)
        .compile()
        .unwrap();

    let state = graph.run(()).await.unwrap();

    assert_eq!(logged(&state).len(), 22);
    assert_eq!(MOST.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn all_branches_run_at_once() {
    let barrier = Arc::new(Barrier::new(10));
    let meet = move |_: State| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Ok::<_, StateError>(())
        }
    };
    let graph = graph(&["plan", "end"])
        .node("meet", meet)
        .edge(START, "plan")
        .for_each("plan", "meet", "end", |_: &State| {
            Ok::<_, StateError>(vec![StateUpdate::new(); 10])
        })
        .edge("meet", "end")
        .edge("end", END)
        .compile()
        .unwrap();

    graph.run(()).await.unwrap();
}

fn race(how: FanOut, first: &str, second: &str) -> CompiledGraph {
    graph(&["end"])
        .node("quick", after(100))
        .node("slow", after(300))
        .node("fails", fails)
        .node("fails too", fails)
        .edge(START, first)
        .edge(START, second)
        .fan_out(START, how)
        .edge("quick", "end")
        .edge("slow", "end")
        .edge("fails", "end")
        .edge("fails too", "end")
        .gotos("end", ["quick", "slow", "fails", "fails too"])
        .edge("end", END)
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn of_branches_that_race_only_the_first_that_succeeds_is_joined() {
    // gr.12, PA-6
    let began = Instant::now();
    let state = race(FanOut::any(), "slow", "quick").run(()).await.unwrap();
    assert_eq!(logged(&state), ["quick", "end"]);
    assert_eq!(began.elapsed(), Duration::from_millis(100));

    let state = race(FanOut::any(), "fails", "slow").run(()).await.unwrap();
    assert_eq!(logged(&state), ["slow", "end"]);
}

#[tokio::test]
async fn if_all_that_race_fail_the_run_fails_with_all_errors() {
    // PA-6
    let error = race(FanOut::any(), "fails", "fails too").run(()).await;
    let RunError::AllBranchesFailed { first, others, .. } = error.unwrap_err() else {
        panic!("all failed");
    };
    assert!(matches!(*first, RunError::Node { node, .. } if node == "fails"));
    assert!(matches!(&others[..], [RunError::Node { node, .. }] if node == "fails too"));
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_fails_stops_the_others_unless_they_are_to_finish() {
    // PA-5
    let began = Instant::now();
    let error = race(FanOut::all(), "slow", "fails").run(log("input")).await;
    let error = error.unwrap_err();
    assert!(matches!(&error, RunError::Node { node, .. } if node == "fails"));
    assert_eq!(logged(error.state()), ["input"]);
    assert_eq!(began.elapsed(), Duration::ZERO);

    let finish = FanOut::all().finish_all();
    let error = race(finish, "slow", "fails").run(log("input")).await;
    assert_eq!(logged(error.unwrap_err().state()), ["input"]);
    assert_eq!(began.elapsed(), Duration::from_millis(300));
}

#[tokio::test]
async fn a_key_that_two_branches_write_needs_a_strategy() {
    // ex-32
    let two = |strategy: Option<KeyStrategy>| {
        let write = async |_: State, context: NodeContext| {
            Ok::<_, StateError>(StateUpdate::new().put("log", json!([context.node()])))
        };
        let mut graph = StateGraph::new()
            .node("a", write)
            .node("b", write)
            .edge(START, "a")
            .edge(START, "b")
            .edge("a", END)
            .edge("b", END);
        if let Some(strategy) = strategy {
            graph = graph.key("log", strategy);
        }
        graph.compile().unwrap()
    };
    for _ in 0..100 {
        let state = two(Some(KeyStrategy::Append)).run(()).await.unwrap();
        assert_eq!(logged(&state), ["a", "b"]);

        let error = two(None).run(log("before")).await.unwrap_err();
        let text = error.to_string();
        assert_eq!(
            text,
            "branches `a` and `b` both write key `log`, which has no declared strategy"
        );
        assert_eq!(logged(error.state()), ["before"]);
    }
    // Who says so gets the last in order.
    let state = two(Some(KeyStrategy::Replace)).run(()).await.unwrap();
    assert_eq!(logged(&state), ["b"]);
}

#[tokio::test]
async fn a_branch_that_goes_to_the_end_leaves_the_others_to_the_join() {
    let graph = graph(&["a", "join"])
        .node("out", async |_: State| {
            Ok::<_, StateError>(NodeOutput::new(log("out")).goto(END))
        })
        .edge(START, "a")
        .edge(START, "out")
        .edge("a", "join")
        .edge("out", "join")
        .edge("join", END)
        .compile()
        .unwrap();

    assert_eq!(logged(&graph.run(()).await.unwrap()), ["a", "out", "join"]);
}

#[tokio::test]
async fn branches_that_begin_anew_inside_of_themselves_come_to_a_limit() {
    let graph = graph(&["s", "a", "join"])
        .node("back", async |_: State| {
            Ok::<_, StateError>(NodeOutput::default().goto("s"))
        })
        .edge(START, "s")
        .edge("s", "a")
        .edge("s", "back")
        .edge("a", "join")
        .edge("back", "join")
        .edge("join", END)
        .compile()
        .unwrap();

    let error = graph.run(()).step_limit(1_000_000).await.unwrap_err();
    assert!(matches!(error, RunError::TooDeep { .. }), "{error:?}");
}

#[test]
fn branches_that_cannot_meet_do_not_compile() {
    // gr.10, SG-7
    let base = || {
        graph(&["s", "a", "b", "join"])
            .edge(START, "s")
            .edge("join", END)
    };
    let endless = base()
        .edge("s", "a")
        .edge("s", "b")
        .edge("a", "a")
        .edge("b", "join");
    assert_eq!(
        faults(endless),
        ["branches from `s` to `a`, `b` never meet"]
    );
    let back = base()
        .edge("s", "a")
        .edge("s", "b")
        .edge("b", "join")
        .conditional_edges("a", |_: &State| "join", ["s", "join"]);
    assert_eq!(
        faults(back),
        ["the branch from `s` to `a` leads back to `s`"]
    );
    let apart = base()
        .for_each("s", "a", "b", |_: &State| Ok::<_, StateError>(Vec::new()))
        .edge("a", "join")
        .edge("b", "join");
    assert_eq!(
        faults(apart),
        ["branches from `s` to `a` cannot reach `b`, where they are to meet"]
    );
    let mixed = base()
        .edge("s", "a")
        .edge("a", "join")
        .edge("b", "join")
        .for_each(
            "s",
            "b",
            "join",
            |_: &State| Ok::<_, StateError>(Vec::new()),
        )
        .fan_out("a", FanOut::any())
        .interrupt_before("nobody");
    assert_eq!(
        faults(mixed),
        [
            "`s` has both an edge to `a` and conditional edges",
            "pause at `nobody`, which is no node",
            "`a` has no branches to say how they run",
        ]
    );
}

fn child() -> StateGraph {
    graph(&["b1", "b2"])
        .edge(START, "b1")
        .edge("b1", "b2")
        .edge("b2", END)
}

fn around(name: &str) -> StateGraph {
    graph(&["a", "c"])
        .edge(START, "a")
        .edge("a", name)
        .edge(name, "c")
        .edge("c", END)
}

#[tokio::test]
async fn a_graph_inside_of_another_runs_step_by_step_and_adds_what_it_adds() {
    // sg.1, sg.8, SB-5
    let inlined = around("b").sub_graph("b", child()).compile().unwrap();
    let compiled = around("b").node("b", child().compile().unwrap());
    for graph in [inlined, compiled.compile().unwrap()] {
        assert_eq!(nodes(graph.run(())).await, ["a", "b-b1", "b-b2", "c"]);
        let state = graph.run(log("p")).await.unwrap();
        assert_eq!(logged(&state), ["p", "a", "b1", "b2", "c"]);
    }
}

#[tokio::test]
async fn a_childs_strategies_hold_for_keys_that_the_parent_does_not_know() {
    // sg.5, SB-1
    let child = || {
        StateGraph::new()
            .key("own", KeyStrategy::Append)
            .key("both", KeyStrategy::Append)
            .node("n", async |_: State| {
                Ok::<_, StateError>(
                    StateUpdate::new()
                        .put("own", json!(1))
                        .put("both", json!(1)),
                )
            })
            .edge(START, "n")
            .edge("n", END)
    };
    let graph = StateGraph::new()
        .key("both", KeyStrategy::Replace)
        .sub_graph("one", child())
        .sub_graph("two", child())
        .edge(START, "one")
        .edge("one", "two")
        .edge("two", END)
        .compile()
        .unwrap();

    let state = graph.run(()).await.unwrap();

    assert_eq!(state.to_value(), json!({"own": [1, 1], "both": 1}));
}

#[tokio::test]
async fn graphs_can_be_branches() {
    // sg.9, SB-6
    let graph = graph(&["join"])
        .sub_graph("x", child())
        .sub_graph("y", child())
        .edge(START, "x")
        .edge(START, "y")
        .edge("x", "join")
        .edge("y", "join")
        .edge("join", END)
        .compile()
        .unwrap();

    let state = graph.run(()).await.unwrap();
    assert_eq!(logged(&state), ["b1", "b2", "b1", "b2", "join"]);
}

#[tokio::test]
async fn a_graph_inside_of_another_may_part_at_its_start_and_fail() {
    let inner = graph(&["x"])
        .node("y", fails)
        .edge(START, "x")
        .edge(START, "y")
        .edge("x", END)
        .edge("y", END);
    let graph = around("b").sub_graph("b", inner).compile().unwrap();

    let error = graph.run(()).await.unwrap_err();
    assert!(matches!(&error, RunError::Node { node, .. } if node == "y"));
    assert_eq!(logged(error.state()), ["a"]);
}

#[test]
fn faults_of_a_graph_inside_of_another_are_told_with_its_own() {
    let inner = graph(&["x"]).edge(START, "x");
    let outer = graph(&["a"])
        .sub_graph("b", inner)
        .edge(START, "b")
        .edge("b", "z");

    assert_eq!(
        faults(outer),
        [
            "edge from `b` leads to `z`, which is no node",
            "node `a` cannot be reached from START",
            "no edge leaves node `a`",
            "in the graph of node `b`: no edge leaves node `x`",
        ]
    );
}

#[tokio::test]
async fn a_loop_of_100_000_steps_does_not_grow_the_stack() {
    // EX-9, gr.19
    let graph = StateGraph::new()
        .node("count", async |state: State| {
            let count = state.value("n").and_then(Value::as_u64).unwrap_or(0);
            drop(state);
            Ok::<_, StateError>(StateUpdate::new().put("n", json!(count + 1)))
        })
        .edge(START, "count")
        .conditional_edges(
            "count",
            |state: &State| match state.value("n").and_then(Value::as_u64) {
                Some(100_000) => END,
                _ => "count",
            },
            ["count", END],
        )
        .compile()
        .unwrap();

    let state = graph.run(()).step_limit(u64::MAX).await.unwrap();
    assert_eq!(state.value("n"), Some(&json!(100_000)));
}

#[test]
fn branches_and_graphs_inside_are_drawn() {
    // SG-12
    let inner = graph(&["b1"]).edge(START, "b1").edge("b1", END);
    let graph = graph(&["a", "c"])
        .sub_graph("b", inner)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "c")
        .edge("b", "c")
        .edge("c", END)
        .compile()
        .unwrap();

    assert_eq!(
        graph.to_mermaid(),
        r#"flowchart TD
    start(["START"])
    n0["a"]
    n1["c"]
    subgraph n2["b"]
        n2_start(["START"])
        n2_n0["b1"]
        n2_finish(["END"])
        n2_start --> n2_n0
        n2_n0 --> n2_finish
    end
    finish(["END"])
    start --> n0
    start --> n2_start
    n0 --> n1
    n1 --> finish
    n2_finish --> n1
"#
    );
    assert!(graph.to_dot().contains(
        r#"    subgraph cluster_n2 { label="b";
        n2_start [label="START", shape=oval];
"#
    ));
}
