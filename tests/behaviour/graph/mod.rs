//! Graphs: what compiles, how a run goes from node to node, and how it ends.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod policies;
mod streams;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_core::graph::{
    CancellationToken, CompiledGraph, END, GraphEvent, GraphFault, GraphStream, KeyStrategy,
    NodeAction, NodeContext, NodeOutput, RunError, START, State, StateError, StateGraph, StateKey,
    StateUpdate,
};
use agent_core::{BoxError, BoxFuture, Message};
use futures_util::StreamExt;
use serde_json::json;

const LOG: StateKey<Vec<String>> = StateKey::new("log");
const COUNT: StateKey<u64> = StateKey::new("count");

/// A node that appends its name to the log.
struct Append;

impl NodeAction for Append {
    fn run<'a>(
        &'a self,
        _state: State,
        context: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        let update = log(context.node());
        Box::pin(async { Ok(update.into()) })
    }
}

fn log(text: &str) -> StateUpdate {
    StateUpdate::new().with(LOG, vec![text.to_owned()])
}

fn graph() -> StateGraph {
    StateGraph::new().key(LOG, KeyStrategy::Append)
}

/// A graph of one node that goes to the end.
fn only<M>(action: impl agent_core::graph::IntoNode<M>) -> CompiledGraph {
    graph()
        .node("only", action)
        .edge(START, "only")
        .edge("only", END)
        .compile()
        .unwrap()
}

fn logged(state: &State) -> Vec<String> {
    state.get(&LOG).unwrap().unwrap_or_default()
}

/// The events as short texts, up to the end or the first error.
async fn events(stream: GraphStream) -> Vec<String> {
    stream
        .map(|event| match event {
            Ok(GraphEvent::NodeStarted { node, step }) => format!("{step} {node} started"),
            Ok(GraphEvent::NodeFinished { node, step, .. }) => format!("{step} {node} finished"),
            Ok(GraphEvent::StateUpdated { keys }) => format!("updated {}", keys.join(" ")),
            Ok(GraphEvent::Interrupted { interrupts, .. }) => {
                format!("{} interrupted", interrupts[0].node)
            }
            Ok(GraphEvent::Finished(_)) => "finished".to_owned(),
            Ok(event) => format!("{event:?}"),
            Err(error) => error.to_string(),
        })
        .collect()
        .await
}

fn faults(graph: StateGraph) -> Vec<String> {
    let error = graph.compile().unwrap_err();
    error.faults().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn nodes_run_along_their_edges_and_the_updates_are_joined_in_order() {
    // B1, gr.7
    let shared: Arc<dyn NodeAction> = Arc::new(Append);
    let graph = graph()
        .node("struct", Append)
        .node("shared", shared)
        .node("typed", Arc::new(Append))
        .node("closure", |state: State| async move {
            let seen = format!("closure saw {}", logged(&state).len());
            Ok::<_, StateError>(log(&seen))
        })
        .node("context", async |_: State, context: NodeContext| {
            let text = format!("{} in step {}", context.node(), context.step());
            Ok::<_, BoxError>(log(&text))
        })
        .node("nothing", async |_: State| Ok::<_, StateError>(()))
        .edge(START, "struct")
        .edge("struct", "shared")
        .edge("shared", "typed")
        .edge("typed", "closure")
        .edge("closure", "context")
        .edge("context", "nothing")
        .edge("nothing", END)
        .compile()
        .unwrap();

    let state = graph.run(log("input")).await.unwrap();

    let expected = [
        "input",
        "struct",
        "shared",
        "typed",
        "closure saw 4",
        "context in step 5",
    ];
    assert_eq!(logged(&state), expected);
}

#[tokio::test]
async fn a_router_looks_at_the_state_and_names_a_route() {
    // SG-4, SG-5
    let graph = graph()
        .node("a", Append)
        .node("b", Append)
        .edge(START, "a")
        .conditional_edges(
            "a",
            |state: &State| -> Result<&'static str, StateError> {
                let rounds = state.get(&LOG)?.map_or(0, |log| log.len());
                Ok(if rounds < 2 { "again" } else { "enough" })
            },
            [("again", "a"), ("enough", "b")],
        )
        .conditional_edges("b", |_: &State| END, [END])
        .compile()
        .unwrap();

    let state = graph.run(()).await.unwrap();
    assert_eq!(logged(&state), ["a", "a", "b"]);
}

#[tokio::test]
async fn a_route_that_was_not_declared_is_an_error_naming_router_and_route() {
    // SG-5
    let graph = graph()
        .node("a", Append)
        .node("b", Append)
        .edge(START, "a")
        .conditional_edges("a", |_: &State| "c".to_owned(), ["b", END])
        .edge("b", END)
        .compile()
        .unwrap();

    let error = graph.run(()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the router of `a` chose `c`, which is none of its targets"
    );
    assert_eq!(logged(error.state()), ["a"]);
}

#[tokio::test]
async fn a_router_that_fails_ends_the_run_with_its_error() {
    let graph = graph()
        .node("a", Append)
        .edge(START, "a")
        .conditional_edges("a", |_: &State| Err::<String, _>("no idea"), [END])
        .compile()
        .unwrap();

    let RunError::Router { node, source, .. } = graph.run(()).await.unwrap_err() else {
        panic!("the router failed");
    };
    assert_eq!((node.as_str(), source.to_string()), ("a", "no idea".into()));
}

#[tokio::test]
async fn a_node_can_go_elsewhere_and_its_update_is_seen_there() {
    // SG-6, gr.5
    let graph = graph()
        .node("jump", async |_: State| {
            Ok::<_, StateError>(NodeOutput::new(log("jumped")).goto("c"))
        })
        .node("b", Append)
        .node("c", Append)
        .edge(START, "jump")
        .edge("jump", "b")
        .gotos("jump", ["c"])
        .edge("b", END)
        .edge("c", END)
        .compile()
        .unwrap();

    let state = graph.run(()).await.unwrap();
    assert_eq!(logged(&state), ["jumped", "c"]);
}

#[tokio::test]
async fn going_to_what_is_no_node_is_an_error_naming_both() {
    // SG-6
    let goto = |target: &'static str| {
        only(move |_: State| async move {
            Ok::<_, StateError>(NodeOutput::new(log("here")).goto(target))
        })
    };

    let error = goto("nowhere").run(()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `only` goes to `nowhere`, which is no node"
    );
    assert!(goto(START).run(()).await.is_err());
    assert_eq!(logged(&goto(END).run(()).await.unwrap()), ["here"]);
}

#[tokio::test]
async fn a_node_with_gotos_alone_must_say_where_to_go() {
    let graph = graph()
        .node("a", Append)
        .edge(START, "a")
        .gotos("a", [END])
        .compile()
        .unwrap();

    let error = graph.run(()).await.unwrap_err();
    assert!(matches!(error, RunError::NoWayOn { node, .. } if node == "a"));
}

#[test]
fn compiling_reports_every_fault_naming_node_and_edge() {
    // SG-1, SG-2, SG-3, SG-4, SG-7, gr.1, gr.2, gr.3
    let none: [&str; 0] = [];
    let graph = StateGraph::new()
        .key("messages", KeyStrategy::Replace)
        .node(" ", Append)
        .node("__a", Append)
        .node("twice", Append)
        .node("twice", Append)
        .node("many", Append)
        .node("mixed", Append)
        .node("stuck", Append)
        .edge("ghost", "twice")
        .edge("twice", "phantom")
        .edge(END, "many")
        .edge("many", "mixed")
        .edge("many", "stuck")
        .edge("mixed", START)
        .edge(" ", END)
        .edge(" ", END)
        .conditional_edges("mixed", |_: &State| END, [END])
        .conditional_edges("mixed", |_: &State| END, [END])
        .conditional_edges("__a", |_: &State| END, none)
        .conditional_edges(END, |_: &State| "r", [("r", "stuck"), ("r", "void")]);

    assert_eq!(
        faults(graph),
        [
            "key `messages` is reserved and takes no strategy",
            "node name ` ` is blank",
            "node name `__a` starts with `__`, which is reserved",
            "two nodes are named `twice`",
            "edge from `ghost` to `twice` leaves `ghost`, which is no node",
            "edge from `twice` leads to `phantom`, which is no node",
            "edge to `many` leaves END",
            "edge from `mixed` leads to START",
            "edge from ` ` to `__END__` stands twice",
            "`mixed` has both an edge to `__START__` and conditional edges",
            "`mixed` has conditional edges twice",
            "conditional edges from `__a` have no targets",
            "edge to `stuck` leaves END",
            "edge to `void` leaves END",
            "edge from `__END__` leads to `void`, which is no node",
            "conditional edges from `__END__` have two routes named `r`",
            "no edge leaves START",
            "no edge leaves node `__a`",
            "no edge leaves node `stuck`",
        ]
    );
}

/// Nodes in one line, and behind it two branches that meet.
fn long_line(nodes: usize) -> StateGraph {
    let name = |number: usize| format!("n{number}");
    let mut line = graph().edge(START, name(0));
    for number in 0..nodes {
        line = line.node(name(number), Append);
        if number > 0 {
            line = line.edge(name(number - 1), name(number));
        }
    }
    line.node("left", Append)
        .node("right", Append)
        .node("last", Append)
        .edge(name(nodes - 1), "left")
        .edge(name(nodes - 1), "right")
        .edge("left", "last")
        .edge("right", "last")
        .edge("last", END)
}

#[tokio::test]
async fn a_line_of_20_000_nodes_compiles_and_its_branches_meet() {
    let graph = long_line(20_000)
        .interrupt_before("n19999")
        .compile()
        .unwrap();
    assert_eq!(graph.node_names().count(), 20_003);

    let line = long_line(20).compile().unwrap();
    let state = line.run(()).await.unwrap();
    assert_eq!(logged(&state)[19..], ["n19", "left", "right", "last"]);
}

#[test]
fn a_node_out_of_reach_is_a_fault() {
    let graph = graph()
        .node("a", Append)
        .node("island", Append)
        .node("beach", Append)
        .edge(START, "a")
        .edge("a", END)
        .edge("island", "beach")
        .edge("beach", "island");
    let error = graph.compile().unwrap_err();

    assert_eq!(
        error.faults()[0],
        GraphFault::Unreachable {
            node: "island".into()
        }
    );
    assert_eq!(
        error.to_string(),
        "graph cannot be compiled: node `island` cannot be reached from START; \
         node `beach` cannot be reached from START"
    );
}

#[tokio::test]
async fn a_run_is_a_stream_of_events_in_order() {
    // EX-3, EX-10, E4
    let graph = graph()
        .node("a", Append)
        .node("b", async |_: State| Ok::<_, StateError>(()))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap();

    let seen = events(graph.run(Message::user("Hello")).stream()).await;

    assert_eq!(
        seen,
        [
            "updated messages",
            "1 a started",
            "1 a finished",
            "updated log",
            "2 b started",
            "2 b finished",
            "finished",
        ]
    );
}

#[tokio::test]
async fn the_stream_ends_after_its_last_event() {
    let mut stream = only(Append).run(()).stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_run_begins_with_the_state_it_is_given() {
    let graph = only(Append);
    let first = graph.run(log("first")).await.unwrap();

    let second = graph.run(log("second")).state(first.clone()).await.unwrap();

    assert_eq!(logged(&first), ["first", "only"]);
    assert_eq!(logged(&second), ["first", "only", "second", "only"]);
}

#[tokio::test]
async fn a_failing_node_ends_the_run_after_its_earlier_events() {
    // EX-7, gr.17
    let graph = graph()
        .node("a", Append)
        .node("b", async |_: State| Err::<StateUpdate, _>("out of order"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap();

    let seen = events(graph.run(()).stream()).await;
    let RunError::Node {
        node,
        source,
        state,
    } = graph.run(()).await.unwrap_err()
    else {
        panic!("the node failed");
    };

    let expected = [
        "1 a started",
        "1 a finished",
        "updated log",
        "2 b started",
        "node `b` failed",
    ];
    assert_eq!(seen, expected);
    assert_eq!(node, "b");
    assert_eq!(source.to_string(), "out of order");
    assert_eq!(logged(&state), ["a"]);
}

#[tokio::test]
async fn a_panic_in_a_node_is_an_error_of_the_run() {
    let early = only(|_: State| {
        assert!(LOG.name().is_empty(), "before the first await");
        async { Ok::<_, StateError>(()) }
    });
    let late = only(async |_: State| {
        tokio::task::yield_now().await;
        assert!(LOG.name().is_empty(), "after an await");
        Ok::<_, StateError>(())
    });
    for graph in [early, late] {
        let error = graph.run(log("input")).await.unwrap_err();
        assert!(matches!(&error, RunError::Panicked { node, .. } if node == "only"));
        assert_eq!(logged(error.state()), ["input"]);
    }
}

#[tokio::test]
async fn a_panic_in_a_router_or_strategy_is_an_error_of_the_run() {
    let router = graph()
        .node("a", Append)
        .edge(START, "a")
        .conditional_edges("a", |_: &State| -> String { panic!("router") }, [END])
        .compile()
        .unwrap();
    let strategy = graph()
        .key("odd", KeyStrategy::custom(|_, _| panic!("strategy")))
        .node("a", async |_: State| {
            Ok::<_, StateError>(log("lost").put("odd", json!(1)))
        })
        .edge(START, "a")
        .edge("a", END)
        .compile()
        .unwrap();

    let error = router.run(()).await.unwrap_err();
    assert!(matches!(&error, RunError::Panicked { node, .. } if node == "a"));
    assert_eq!(logged(error.state()), ["a"]);

    let error = strategy.run(log("input")).await.unwrap_err();
    assert!(matches!(&error, RunError::Update { node, .. } if node == "a"));
    assert_eq!(logged(error.state()), ["input"]);
}

#[tokio::test]
async fn an_update_that_does_not_fit_is_an_error_that_names_the_node() {
    let graph = only(async |_: State| {
        Ok::<_, StateError>(StateUpdate::new().put("messages", json!("mine")))
    });

    let RunError::Update { node, source, .. } = graph.run(()).await.unwrap_err() else {
        panic!("the update does not fit");
    };
    assert_eq!(node, "only");
    assert!(matches!(*source, StateError::ReservedKey { .. }));
}

/// A graph whose node counts up to a number, or for ever.
fn counter(up_to: Option<u64>) -> CompiledGraph {
    StateGraph::new()
        .node("count", async |state: State| {
            let count = state.get(&COUNT)?.unwrap_or_default();
            Ok::<_, StateError>(StateUpdate::new().with(COUNT, count + 1))
        })
        .edge(START, "count")
        .conditional_edges(
            "count",
            move |state: &State| match state.get(&COUNT) {
                Ok(count) if count == up_to => END,
                _ => "count",
            },
            ["count", END],
        )
        .compile()
        .unwrap()
}

#[tokio::test]
async fn the_step_limit_is_a_typed_error_with_the_state_kept() {
    // EX-1, EX-2, gr.20
    let RunError::StepLimit { limit, state } =
        counter(None).run(()).step_limit(5).await.unwrap_err()
    else {
        panic!("the limit was reached");
    };
    assert_eq!(limit, 5);
    assert_eq!(state.get(&COUNT).unwrap(), Some(5));

    // Nodes alone are counted: five of them fit into five steps.
    let state = counter(Some(5)).run(()).step_limit(5).await.unwrap();
    assert_eq!(state.get(&COUNT).unwrap(), Some(5));

    let error = counter(None).run(()).await.unwrap_err();
    assert!(matches!(error, RunError::StepLimit { limit: 100, .. }));
}

#[tokio::test]
async fn long_loops_do_not_grow_the_stack() {
    // EX-9, gr.19
    let run = counter(Some(20_000)).run(()).step_limit(u64::MAX);
    let state = run.await.unwrap();
    assert_eq!(state.get(&COUNT).unwrap(), Some(20_000));
}

#[tokio::test]
async fn nodes_that_never_wait_leave_room_for_others() {
    let other = Arc::new(AtomicBool::new(false));
    let ran = Arc::clone(&other);
    tokio::spawn(async move { ran.store(true, Ordering::SeqCst) });

    counter(Some(1_000))
        .run(())
        .step_limit(u64::MAX)
        .await
        .unwrap();

    assert!(other.load(Ordering::SeqCst));
}

#[tokio::test]
async fn steps_do_not_copy_the_history() {
    // E6
    let graph = graph()
        .node("grow", async |state: State| {
            let address = state.messages().as_ptr() as usize;
            let update = log(&address.to_string()).message(Message::user("more"));
            Ok::<_, StateError>(update)
        })
        .edge(START, "grow")
        .conditional_edges(
            "grow",
            |state: &State| {
                if state.messages().len() < 110 {
                    "grow"
                } else {
                    END
                }
            },
            ["grow", END],
        )
        .compile()
        .unwrap();
    let input: Vec<Message> = (0..100).map(|n| Message::user(n.to_string())).collect();

    let state = graph.run(input).await.unwrap();

    let mut addresses = logged(&state);
    addresses.dedup();
    // A vector that grows moves now and then; a copy per step would move it ten times.
    assert!(addresses.len() <= 2, "{addresses:?}");
}

/// Tells when it is dropped.
struct DropFlag(Arc<AtomicBool>);

impl Drop for DropFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A graph whose second node never ends, and the flag that tells when it was dropped.
fn endless() -> (CompiledGraph, Arc<AtomicBool>) {
    let dropped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&dropped);
    let graph = graph()
        .node("a", Append)
        .node("endless", move |_: State, context: NodeContext| {
            let flag = DropFlag(Arc::clone(&flag));
            async move {
                let _flag = flag;
                // Plays the one who cancels from outside, if this run is to be cancelled.
                if context.extensions().get::<CancelNow>().is_some() {
                    context.cancellation().cancel();
                }
                pending::<()>().await;
                Ok::<_, StateError>(log("endless"))
            }
        })
        .edge(START, "a")
        .edge("a", "endless")
        .edge("endless", END)
        .compile()
        .unwrap();
    (graph, dropped)
}

struct CancelNow;

#[tokio::test]
async fn a_cancelled_run_drops_its_node_and_keeps_the_state_before_it() {
    // C4
    let (graph, dropped) = endless();
    let token = CancellationToken::new();

    let run = graph.run(()).cancel_token(token.clone());
    let error = run.extension(CancelNow).await.unwrap_err();

    assert!(error.is_cancelled());
    assert!(token.is_cancelled());
    assert!(dropped.load(Ordering::SeqCst));
    assert_eq!(logged(error.state()), ["a"]);
}

#[tokio::test]
async fn a_run_cancelled_before_it_begins_runs_no_node() {
    // C4
    let token = CancellationToken::new();
    token.cancel();

    let seen = events(only(Append).run(log("input")).cancel_token(token).stream()).await;
    assert_eq!(seen, ["updated log", "the run was cancelled"]);
}

#[tokio::test]
async fn dropping_the_stream_drops_the_node_at_once() {
    // C4
    let (graph, dropped) = endless();
    let mut stream = graph.run(()).stream();
    for _ in 0..4 {
        stream.next().await.unwrap().unwrap();
    }
    // A dropped `next` loses nothing: the node stays in the stream.
    assert!(futures_util::poll!(Box::pin(stream.next())).is_pending());
    assert!(!dropped.load(Ordering::SeqCst));

    drop(stream);
    assert!(dropped.load(Ordering::SeqCst));
}

/// Cancels the run, then returns what it has.
struct Tidy;

impl NodeAction for Tidy {
    fn run<'a>(
        &'a self,
        _state: State,
        context: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        Box::pin(async move {
            context.cancellation().cancel();
            tokio::task::yield_now().await;
            Ok(log("tidied up").into())
        })
    }

    fn finishes_on_cancel(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_node_may_finish_when_the_run_is_cancelled() {
    // C4
    let error = only(Tidy).run(()).await.unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(logged(error.state()), ["tidied up"]);
}

#[tokio::test]
async fn an_interrupt_is_the_last_event_and_no_finished_run() {
    // IR-2, E5
    let graph = only(async |_: State| {
        Ok::<_, StateError>(NodeOutput::new(log("asked")).interrupt(json!({"ask": "sure?"})))
    });

    let seen = events(graph.run(()).stream()).await;
    let RunError::Interrupted { interrupts, state } = graph.run(()).await.unwrap_err() else {
        panic!("the run was paused");
    };

    let expected = [
        "1 only started",
        "1 only finished",
        "updated log",
        "only interrupted",
    ];
    assert_eq!(seen, expected);
    assert_eq!(interrupts[0].payload, json!({"ask": "sure?"}));
    assert_eq!(logged(&state), ["asked"]);
}

#[tokio::test]
async fn extensions_reach_the_nodes_by_their_type() {
    struct Tenant(&'static str);
    let graph = only(async |_: State, context: NodeContext| {
        let tenant = context.extensions().get::<Tenant>().ok_or("no tenant")?;
        Ok::<_, BoxError>(log(tenant.0))
    });

    let state = graph.run(()).extension(Tenant("seven")).await.unwrap();
    assert_eq!(logged(&state), ["seven"]);
    assert!(graph.run(()).await.is_err());
}

#[tokio::test]
async fn one_graph_runs_many_times_at_once() {
    let graph = counter(Some(10));
    let runs = (0..8).map(|_| tokio::spawn(graph.run(()).into_future()));
    for run in futures_util::future::join_all(runs).await {
        assert_eq!(run.unwrap().unwrap().get(&COUNT).unwrap(), Some(10));
    }
}

fn pictured() -> CompiledGraph {
    graph()
        .node("model", Append)
        .node("say \"hi\"; <b>", Append)
        .edge(START, "model")
        .conditional_edges(
            "model",
            |_: &State| "done",
            [("calls", "say \"hi\"; <b>"), ("done", END), ("", "model")],
        )
        .edge("say \"hi\"; <b>", "model")
        .gotos("say \"hi\"; <b>", [END])
        .compile()
        .unwrap()
}

#[test]
fn a_graph_is_drawn_as_mermaid() {
    // B3, SG-12
    assert_eq!(
        pictured().to_mermaid(),
        r##"flowchart TD
    start(["START"])
    n0["model"]
    n1["say #34;hi#34;#59; #60;b#62;"]
    finish(["END"])
    start --> n0
    n0 -.->|"calls"| n1
    n0 -.->|"done"| finish
    n0 -.->|" "| n0
    n1 --> n0
    n1 -.->|"goto"| finish
"##
    );
}

#[test]
fn a_graph_is_drawn_as_dot() {
    // B3, SG-12
    assert_eq!(
        pictured().to_dot(),
        r#"digraph {
    start [label="START", shape=oval];
    n0 [label="model", shape=box];
    n1 [label="say \"hi\"; <b>", shape=box];
    finish [label="END", shape=oval];
    start -> n0;
    n0 -> n1 [style=dashed, label="calls"];
    n0 -> finish [style=dashed, label="done"];
    n0 -> n0 [style=dashed, label=""];
    n1 -> n0;
    n1 -> finish [style=dashed, label="goto"];
}
"#
    );
}
