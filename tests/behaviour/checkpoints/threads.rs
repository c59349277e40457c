//! Runs of a graph that belong to a thread: what they remember, where they pause, how they go on.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::BoxError;
use agent_core::graph::checkpoint::{
    CheckpointError, CheckpointId, CheckpointSaver, Commit, Durability, MemorySaver,
    StoredCheckpoint, ThreadChange,
};
use agent_core::graph::{
    Answer, CancellationToken, CompiledGraph, END, GraphEvent, GraphRun, KeyStrategy, NodeContext,
    NodeInterrupt, NodeOutput, RunError, START, State, StateError, StateGraph, StateKey,
    StateUpdate,
};
use agent_tests::saver::{Access, Watched};
use serde_json::{Value, json};

const LOG: StateKey<Vec<String>> = StateKey::new("log");

pub(super) fn log(text: &str) -> StateUpdate {
    StateUpdate::new().with(LOG, vec![text.to_owned()])
}

pub(super) fn logged(state: &State) -> Vec<String> {
    state.get(&LOG).unwrap().unwrap_or_default()
}

pub(super) async fn says(_: State, context: NodeContext) -> Result<StateUpdate, BoxError> {
    Ok(log(context.node()))
}

pub(super) fn graph() -> StateGraph {
    StateGraph::new().key(LOG, KeyStrategy::Append)
}

/// A node that counts its runs, and fails as often as it is told.
fn counted(
    runs: &Arc<AtomicUsize>,
    failures: usize,
) -> impl Fn(State, NodeContext) -> agent_core::BoxFuture<'static, Result<StateUpdate, BoxError>>
+ Send
+ Sync
+ 'static {
    let runs = Arc::clone(runs);
    move |_, context| {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match run < failures {
                true => Err("not yet".into()),
                false => Ok(log(context.node())),
            }
        })
    }
}

/// `ask` asks for a yes, then `pay` runs.
fn paying(pays: &Arc<AtomicUsize>) -> CompiledGraph {
    graph()
        .node("ask", async |_: State, context: NodeContext| {
            Ok::<_, BoxError>(match context.answer::<String>()? {
                None => NodeOutput::new(log("asked")).interrupt("Pay?"),
                Some(answer) => NodeOutput::new(log(&answer)),
            })
        })
        .node("pay", counted(pays, 0))
        .edge(START, "ask")
        .edge("ask", "pay")
        .edge("pay", END)
        .compile()
        .unwrap()
}

pub(super) async fn paused(run: GraphRun) -> Vec<NodeInterrupt> {
    match run.await {
        Err(RunError::Interrupted { interrupts, .. }) => interrupts,
        other => panic!("{other:?}"),
    }
}

pub(super) fn refused(result: Result<State, RunError>) -> CheckpointError {
    match result {
        Err(RunError::Checkpoint { source, .. }) => *source,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn ids(saver: &MemorySaver, thread: &str) -> Vec<CheckpointId> {
    let listed = saver.list(thread, None, 1000).await.unwrap();
    listed.into_iter().map(|it| it.id).rev().collect()
}

#[tokio::test]
async fn a_run_begins_with_what_the_last_one_of_its_thread_left() {
    // B15, ck.4
    let saver = MemorySaver::new();
    let graph = graph()
        .node("n", says)
        .edge(START, "n")
        .edge("n", END)
        .compile()
        .unwrap()
        .saver(saver.clone());

    graph.run(log("a")).thread("t1").await.unwrap();
    let other = graph.run(log("b")).thread("t2").await.unwrap();
    let state = graph.run(log("c")).thread("t1").await.unwrap();
    let without = graph.run(log("d")).await.unwrap();

    assert_eq!(logged(&state), ["a", "n", "c", "n"]);
    assert_eq!(logged(&other), ["b", "n"]);
    assert_eq!(logged(&without), ["d", "n"]);
    // Each run writes its input and its node.
    assert_eq!(ids(&saver, "t1").await.len(), 4);
}

#[tokio::test]
async fn a_thread_without_a_saver_or_with_a_bad_name_is_an_error() {
    let graph = paying(&Arc::default());
    let error = refused(graph.run(()).thread("t1").await);
    assert!(matches!(error, CheckpointError::NoSaver { thread } if thread == "t1"));

    let graph = graph.saver(MemorySaver::new());
    for name in ["", "a\nb", "a\0", &"x".repeat(2000)] {
        let error = refused(graph.run(()).thread(name).await);
        assert!(matches!(error, CheckpointError::InvalidThread { .. }));
    }
}

#[tokio::test]
async fn a_paused_node_runs_again_with_its_answer() {
    // IR-2, IR-4, IR-5, IR-11, E5
    let (saver, pays) = (MemorySaver::new(), Arc::default());
    let graph = paying(&pays).saver(saver.clone());

    let asked = paused(graph.run(()).thread("t1")).await;
    let [asked] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!((&*asked.node, &asked.payload), ("ask", &json!("Pay?")));
    assert_eq!(asked.id, "t1:ask:1:0");
    let resumed = graph.resume("t1", [Answer::new(&asked.id, "yes")]);
    let state = resumed.await.unwrap();

    assert_eq!(logged(&state), ["asked", "yes", "pay"]);
    assert_eq!(pays.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_answer_counts_once() {
    // cp-01, RC-4
    let (saver, pays) = (MemorySaver::new(), Arc::default());
    let graph = paying(&pays).saver(saver.clone());
    let asked = paused(graph.run(()).thread("t1")).await;
    let answer = || [Answer::new(&asked[0].id, "yes")];

    let (one, other) = tokio::join!(
        graph.resume("t1", answer()).into_future(),
        graph.resume("t1", answer()).into_future(),
    );
    let again = graph.resume("t1", answer()).await;

    let one_only = [one, other].into_iter().filter(Result::is_ok).count();
    assert_eq!(one_only, 1);
    let error = refused(again);
    assert!(matches!(error, CheckpointError::AlreadyAnswered { id, .. } if id == asked[0].id));
    assert_eq!(pays.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn answers_to_what_was_not_asked_change_nothing() {
    // cp-03, IR-10, in.8: an error here, not a run from the start
    let (saver, pays) = (MemorySaver::new(), Arc::default());
    let graph = paying(&pays).saver(saver.clone());
    let asked = paused(graph.run(()).thread("t1")).await;
    let (id, before) = (&asked[0].id, saver.bytes_written());

    let error = refused(graph.resume("t1", [Answer::new("i9", 1)]).await);
    assert!(matches!(error, CheckpointError::InterruptNotFound { id, .. } if id == "i9"));
    let both = [Answer::new(id, 1), Answer::new("i9", 1)];
    let error = refused(graph.resume("t1", both).await);
    assert!(matches!(error, CheckpointError::InterruptNotFound { .. }));
    let twice = [Answer::new(id, 1), Answer::new(id, 2)];
    let error = refused(graph.resume("t1", twice).await);
    assert!(matches!(error, CheckpointError::AnsweredTwice { .. }));
    let error = refused(graph.resume("t2", [Answer::new(id, 1)]).await);
    assert!(matches!(error, CheckpointError::ThreadNotFound { thread } if thread == "t2"));

    assert_eq!(saver.bytes_written(), before);
    assert_eq!(pays.load(Ordering::SeqCst), 0);
    // Nothing is lost.
    let again = paused(graph.resume("t1", [])).await;
    assert_eq!(again, asked);
    assert_eq!(saver.bytes_written(), before);
}

#[tokio::test]
async fn nothing_new_begins_on_a_thread_that_waits_and_nothing_is_resumed_that_ended() {
    // cp-17
    let (saver, pays) = (MemorySaver::new(), Arc::default());
    let graph = paying(&pays).saver(saver.clone());
    let asked = paused(graph.run(()).thread("t1")).await;

    let error = refused(graph.run(log("forget it")).thread("t1").await);
    assert!(
        matches!(error, CheckpointError::Pending { interrupts, .. } if interrupts == [asked[0].id.clone()])
    );
    let answer = Answer::new(&asked[0].id, "yes");
    graph.resume("t1", [answer]).await.unwrap();
    let error = refused(graph.resume("t1", []).await);
    assert!(matches!(error, CheckpointError::NothingToResume { .. }));
}

#[tokio::test]
async fn a_node_may_ask_several_things_and_again_and_keeps_its_answers() {
    let graph = graph()
        .node("ask", async |_: State, context: NodeContext| {
            let (name, age) = (
                context.answer_to::<String>("name")?,
                context.answer_to::<u8>("age")?,
            );
            let sure = context.answer_to::<bool>("sure")?;
            Ok::<_, BoxError>(match (name, age, sure) {
                (Some(name), Some(age), Some(true)) => {
                    NodeOutput::new(log(&format!("{name} {age}")))
                }
                (Some(_), Some(_), _) => NodeOutput::default().ask("sure", "Sure?"),
                (None, None, _) => NodeOutput::default()
                    .ask("name", "Name?")
                    .ask("age", "Age?"),
                (None, _, _) => NodeOutput::default().ask("name", "Name?"),
                (_, None, _) => NodeOutput::default().ask("age", "Age?"),
            })
        })
        .edge(START, "ask")
        .edge("ask", END)
        .compile()
        .unwrap()
        .saver(MemorySaver::new());
    let by = |asked: &[NodeInterrupt], key: &str| {
        asked.iter().find(|it| it.key == key).unwrap().id.clone()
    };

    let asked = paused(graph.run(()).thread("t1")).await;
    assert_eq!(asked.len(), 2);
    let (name, age) = (by(&asked, "name"), by(&asked, "age"));
    let rest = paused(graph.resume("t1", [Answer::new(&age, 7)])).await;
    // What still waits keeps its id.
    assert_eq!(rest.len(), 1);
    assert_eq!(by(&rest, "name"), name);
    let asked = paused(graph.resume("t1", [Answer::new(name, "Ada")])).await;
    let first = by(&asked, "sure");
    let asked = paused(graph.resume("t1", [Answer::new(&first, false)])).await;
    let second = by(&asked, "sure");
    assert_ne!(first, second);
    let error = refused(graph.resume("t1", [Answer::new(age, 8)]).await);
    assert!(matches!(error, CheckpointError::AlreadyAnswered { .. }));
    let state = graph.resume("t1", [Answer::new(second, true)]).await;

    assert_eq!(logged(&state.unwrap()), ["Ada 7"]);
}

/// Branches `a` and `b` ask, `c` counts.
fn asking_branches(runs: &Arc<AtomicUsize>) -> CompiledGraph {
    let ask = async |_: State, context: NodeContext| {
        Ok::<_, BoxError>(match context.answer::<String>()? {
            None => NodeOutput::new(log(&format!("{} asks", context.node()))).interrupt("?"),
            Some(answer) => NodeOutput::new(log(&answer)),
        })
    };
    let inner = graph()
        .node("deep", ask)
        .edge(START, "deep")
        .edge("deep", END);
    graph()
        .node("first", says)
        .node("a", ask)
        .node("c", counted(runs, 0))
        .node("c2", says)
        .node("join", says)
        .sub_graph("b", inner)
        .edge(START, "first")
        .edge("first", "a")
        .edge("first", "b")
        .edge("first", "c")
        .edge("a", "join")
        .edge("b", "join")
        .edge("c", "c2")
        .edge("c2", "join")
        .edge("join", END)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn branches_pause_together_and_what_ended_is_not_run_again() {
    // cp-07, cp-10
    for durability in [
        Durability::EachWrite,
        Durability::EachStep,
        Durability::AtEnd,
    ] {
        let runs = Arc::default();
        let graph = asking_branches(&runs).saver(MemorySaver::new());

        let asked = paused(graph.run(()).thread("t1").durability(durability)).await;
        let places: Vec<&str> = asked.iter().map(|it| it.node.as_str()).collect();
        assert_eq!(places, ["first>0/a", "first>1/b/deep"]);
        assert_ne!(asked[0].id, asked[1].id);
        // The same after reloading.
        assert_eq!(paused(graph.resume("t1", [])).await, asked);
        let answer = Answer::new(&asked[1].id, "deep answer");
        let rest = paused(graph.resume("t1", [answer]).durability(durability)).await;
        assert_eq!(rest, [asked[0].clone()]);
        let answer = Answer::new(&asked[0].id, "a answer");
        let state = graph.resume("t1", [answer]).durability(durability).await;

        let expected = [
            "first",
            "a asks",
            "a answer",
            "deep asks",
            "deep answer",
            "c",
            "c2",
            "join",
        ];
        assert_eq!(logged(&state.unwrap()), expected);
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{durability:?}");
    }
}

#[tokio::test]
async fn a_child_that_never_paused_begins_fresh() {
    // cp-04, in.9, IR-10
    let ask = async |_: State, context: NodeContext| {
        Ok::<_, BoxError>(match context.answer::<String>()? {
            None => NodeOutput::default().interrupt("?"),
            Some(answer) => NodeOutput::new(log(&answer)),
        })
    };
    let one = graph().node("x", ask).edge(START, "x").edge("x", END);
    let two = graph().node("x", says).edge(START, "x").edge("x", END);
    let graph = graph()
        .sub_graph("sub1", one)
        .sub_graph("sub2", two)
        .edge(START, "sub1")
        .edge("sub1", "sub2")
        .edge("sub2", END)
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let asked = paused(graph.run(()).thread("t1")).await;
    let state = graph.resume("t1", [Answer::new(&asked[0].id, "yes")]).await;

    assert_eq!(logged(&state.unwrap()), ["yes", "x"]);
}

#[tokio::test]
async fn a_run_pauses_before_a_node_and_goes_on_without_an_answer() {
    // IR-1, IR-5, sg.2
    let inner = graph()
        .node("x", says)
        .interrupt_before("x")
        .edge(START, "x")
        .edge("x", END);
    let graph = graph()
        .node("a", says)
        .sub_graph("b", inner)
        .interrupt_before("b")
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let held = paused(graph.run(()).thread("t1")).await;
    assert!(held[0].is_breakpoint);
    assert_eq!(held[0].node, "b");
    let held = paused(graph.resume("t1", [])).await;
    assert_eq!(held[0].node, "b/x");
    let state = graph.resume("t1", []).await.unwrap();
    assert_eq!(logged(&state), ["a", "x"]);
}

#[tokio::test]
async fn a_run_stops_after_the_step_it_is_in() {
    let saver = MemorySaver::new();
    let stop = CancellationToken::new();
    let stops = stop.clone();
    let graph = graph()
        .node("a", move |_: State| {
            stops.cancel();
            async { Ok::<_, StateError>(log("a")) }
        })
        .node("b", says)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap()
        .saver(saver);

    let held = paused(graph.run(()).thread("t1").drain_token(stop)).await;
    assert_eq!((&*held[0].node, held[0].is_breakpoint), ("b", true));
    let state = graph.resume("t1", []).await.unwrap();
    assert_eq!(logged(&state), ["a", "b"]);
}

#[tokio::test]
async fn a_failed_run_is_resumed_where_it_failed() {
    // EX-7
    let (first, runs) = (Arc::default(), Arc::default());
    let graph = graph()
        .node("first", counted(&first, 0))
        .node("n", counted(&runs, 1))
        .edge(START, "first")
        .edge("first", "n")
        .edge("n", END)
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let error = graph.run(log("in")).thread("t1").await.unwrap_err();
    assert!(matches!(error, RunError::Node { .. }));
    let error = refused(graph.run(log("more")).thread("t1").await);
    assert!(matches!(error, CheckpointError::Unfinished { .. }));
    let state = graph.resume("t1", []).await.unwrap();

    assert_eq!(logged(&state), ["in", "first", "n"]);
    assert_eq!(first.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_run_that_is_dropped_after_any_event_goes_on_as_if_nothing_had_happened() {
    // EX-4, IR-12
    for taken in 0..100 {
        let runs = Arc::default();
        let graph = asking_branches(&runs).saver(MemorySaver::new());
        let mut stream = graph.run(log("in")).thread("t1").stream();
        let mut ended = false;
        for _ in 0..taken {
            ended |= stream.next().await.is_none();
        }
        drop(stream);
        // A commit that has begun is made.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }

        let again = match graph.resume("t1", []).await {
            Err(RunError::Checkpoint { source, .. }) => {
                // Nothing was written yet: the input was not taken in.
                assert!(
                    matches!(*source, CheckpointError::ThreadNotFound { .. }),
                    "{taken}: {source:?}"
                );
                graph.run(log("in")).thread("t1").await
            }
            other => other,
        };
        let Err(RunError::Interrupted { interrupts, .. }) = again else {
            panic!("{taken}: {again:?}");
        };
        let answers = interrupts.iter().map(|it| Answer::new(&it.id, "yes"));
        let state = graph.resume("t1", answers).await.unwrap();
        let expected = [
            "in",
            "first",
            "a asks",
            "yes",
            "deep asks",
            "yes",
            "c",
            "c2",
            "join",
        ];
        assert_eq!(logged(&state), expected, "{taken}");
        if ended {
            assert_eq!(runs.load(Ordering::SeqCst), 1);
            return;
        }
    }
    panic!("the run never ends");
}

#[tokio::test]
async fn a_thread_of_a_graph_that_changed_is_refused_by_the_name_of_its_node() {
    // cp-16
    let saver = MemorySaver::new();
    let with = |node: &'static str| {
        graph()
            .node(node, says)
            .interrupt_before(node)
            .edge(START, node)
            .edge(node, END)
            .compile()
            .unwrap()
            .saver(saver.clone())
    };
    paused(with("old_node").run(()).thread("t1")).await;
    let before = saver.bytes_written();

    let error = refused(with("new_node").resume("t1", []).await);
    assert!(matches!(&error, CheckpointError::GraphMismatch { node, .. } if node == "old_node"));
    assert!(error.to_string().contains("old_node"));
    assert_eq!(saver.bytes_written(), before);
}

#[tokio::test]
async fn an_older_checkpoint_gets_another_branch_and_nothing_is_replaced() {
    // cp-19, IR-8, in.7, CK-2, ck.2: a checkpoint is never replaced
    let saver = MemorySaver::new();
    let graph = graph()
        .node("a", says)
        .node("b", says)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap()
        .saver(saver.clone());
    let first = graph.run(()).thread("t1").await.unwrap();
    let before = ids(&saver, "t1").await;
    let [_, after_a, _] = &before[..] else {
        panic!("{before:?}");
    };

    for _ in 0..2 {
        let again = graph.resume("t1", []).at(after_a.clone()).await.unwrap();
        assert_eq!(again, first);
    }

    let listed = saver.list("t1", None, 10).await.unwrap();
    assert_eq!(listed.len(), 5);
    assert_eq!(listed[0].parent.as_ref(), Some(after_a));
    assert_eq!(listed[1].parent.as_ref(), Some(after_a));
    let other = graph.run(log("x")).thread("t1").at(before[0].clone());
    let error = refused(other.await);
    assert!(matches!(error, CheckpointError::Unfinished { .. }));
}

#[tokio::test]
async fn one_run_at_a_time_has_a_thread() {
    // cp-05, CK-8
    let saver = MemorySaver::new();
    let gate = Arc::new(tokio::sync::Notify::new());
    let (waits, opens) = (Arc::clone(&gate), gate);
    let graph = graph()
        .node("n", move |_: State| {
            let waits = Arc::clone(&waits);
            async move {
                waits.notified().await;
                Ok::<_, StateError>(())
            }
        })
        .edge(START, "n")
        .edge("n", END)
        .compile()
        .unwrap()
        .saver(saver);
    let one = tokio::spawn(graph.run(log("A")).thread("t1").into_future());
    tokio::task::yield_now().await;

    let error = refused(graph.run(log("B")).thread("t1").await);
    assert!(error.is_conflict() && error.is_retryable(), "{error:?}");
    opens.notify_one();
    assert_eq!(logged(&one.await.unwrap().unwrap()), ["A"]);
    opens.notify_one();
    let state = graph.run(log("B")).thread("t1").await.unwrap();
    assert_eq!(logged(&state), ["A", "B"]);
}

#[tokio::test]
async fn a_run_that_lost_its_thread_to_another_stops_and_overwrites_nothing() {
    let saver = MemorySaver::new();
    let thief = saver.clone();
    let graph = graph()
        .node("robbed", move |_: State| {
            let thief = thief.clone();
            async move {
                // Somebody writes without the lock.
                let thread = thief.load("t1", None).await?.ok_or("no thread")?;
                let change = ThreadChange::Writes(vec![b"x".as_slice().into()]);
                let expected = thread.version;
                thief.commit("t1", Commit { expected, change }).await?;
                Ok::<_, BoxError>(log("robbed"))
            }
        })
        .node("after", says)
        .edge(START, "robbed")
        .edge("robbed", "after")
        .edge("after", END)
        .compile()
        .unwrap()
        .saver(saver.clone());

    let error = refused(graph.run(()).thread("t1").await);
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(
        saver.load("t1", None).await.unwrap().unwrap().writes.len(),
        1
    );
    // What cannot be read is told by its place.
    let error = refused(graph.resume("t1", []).await);
    assert!(matches!(error, CheckpointError::Decode { key, .. } if key.starts_with("write 1 ")));
}

#[tokio::test]
async fn what_a_newer_version_wrote_is_refused_by_its_key_and_stays() {
    // CK-7
    let saver = MemorySaver::new();
    let graph = paying(&Arc::default()).saver(saver.clone());
    paused(graph.run(()).thread("t1")).await;
    let head = saver.load("t1", None).await.unwrap().unwrap();
    let add = |id: &str, payload: &str| {
        let added = StoredCheckpoint {
            id: CheckpointId::new(id),
            parent: head.chain.last().map(|last| last.id.clone()),
            payload: payload.as_bytes().into(),
        };
        ThreadChange::Checkpoint(added)
    };
    let written = [
        ("newer", r#"{"format":99,"all":"new"}"#),
        ("cut", r#"{"format":1,"checkpoint":{"step"#),
    ];
    for (expected, (id, payload)) in (head.version..).zip(written) {
        let change = add(id, payload);
        saver
            .commit("t1", Commit { expected, change })
            .await
            .unwrap();

        let before = saver.bytes_written();
        let error = refused(graph.resume("t1", []).await);
        match id {
            "newer" => assert!(
                matches!(&error, CheckpointError::UnsupportedVersion { key, found: 99, .. } if key == id)
            ),
            _ => assert!(matches!(&error, CheckpointError::Decode { key, .. } if key == id)),
        }
        assert!(error.to_string().contains(id));
        assert_eq!(saver.bytes_written(), before);
    }
}

#[tokio::test]
async fn a_run_writes_as_often_as_it_is_told() {
    let graph = graph()
        .node("a", says)
        .node("b", says)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap();
    for (durability, checkpoints) in [
        (Durability::EachWrite, 3),
        (Durability::EachStep, 3),
        (Durability::AtEnd, 1),
    ] {
        let saver = MemorySaver::new();
        let run = graph.run(log("in")).thread("t1").saver(saver.clone());
        run.durability(durability).await.unwrap();

        assert_eq!(ids(&saver, "t1").await.len(), checkpoints, "{durability:?}");
        let state = graph.run(()).thread("t1").saver(saver).await.unwrap();
        assert_eq!(logged(&state), ["in", "a", "b", "a", "b"]);
    }
}

#[tokio::test]
async fn a_run_that_writes_at_its_end_writes_also_when_it_fails() {
    let runs = Arc::default();
    let graph = graph()
        .node("a", says)
        .node("b", counted(&runs, 1))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap()
        .saver(MemorySaver::new());
    let run = graph.run(()).thread("t1").durability(Durability::AtEnd);
    run.await.unwrap_err();

    let state = graph.resume("t1", []).await.unwrap();
    assert_eq!(logged(&state), ["a", "b"]);
}

#[tokio::test]
async fn a_step_costs_what_it_adds_however_long_the_thread_is() {
    // E6
    let saver = MemorySaver::new();
    let graph = graph()
        .node("n", says)
        .edge(START, "n")
        .edge("n", END)
        .compile()
        .unwrap()
        .saver(saver.clone());
    let mut bytes = Vec::new();
    for _ in 0..500 {
        let before = saver.bytes_written();
        graph.run(log("in")).thread("t1").await.unwrap();
        bytes.push(saver.bytes_written() - before);
    }
    // Only the number of the step gets longer.
    assert!(bytes[499] <= bytes[1] + 8, "{bytes:?}");
}

#[tokio::test]
async fn numbers_keep_their_kind_in_a_thread() {
    // EX-12, in.6
    let graph = paying(&Arc::default()).saver(MemorySaver::new());
    let update = StateUpdate::new()
        .put("long", json!(150_u64))
        .put("huge", json!(u64::MAX))
        .put("float", json!(1.0))
        .put("nothing", Value::Null);
    let asked = paused(graph.run(update).thread("t1")).await;
    let state = graph.resume("t1", [Answer::new(&asked[0].id, "yes")]).await;
    let state = state.unwrap();

    assert_eq!(state.value("long"), Some(&json!(150_u64)));
    assert_eq!(state.value("huge"), Some(&json!(u64::MAX)));
    assert!(state.value("float").unwrap().is_f64());
    assert_eq!(state.value("nothing"), Some(&Value::Null));
}

#[tokio::test]
async fn a_resumed_run_streams_like_any_other() {
    let graph = paying(&Arc::default()).saver(MemorySaver::new());
    let asked = paused(graph.run(()).thread("t1")).await;
    let mut stream = graph
        .resume("t1", [Answer::new(&asked[0].id, "yes")])
        .stream();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        seen.push(match event.unwrap() {
            GraphEvent::NodeStarted { node, .. } => node.to_string(),
            GraphEvent::Finished(_) => "finished".to_owned(),
            _ => continue,
        });
    }
    assert_eq!(seen, ["ask", "pay", "finished"]);
}

#[tokio::test]
async fn a_store_that_fails_ends_the_run_with_its_error() {
    let commits = AtomicUsize::new(0);
    let saver = Watched::new(move |access| {
        access != Access::Commit || commits.fetch_add(1, Ordering::SeqCst) != 1
    });
    let graph = paying(&Arc::default()).saver(saver);
    let error = refused(graph.run(()).thread("t1").await);
    assert!(error.is_retryable(), "{error:?}");
    // The thread is free and whole.
    let asked = paused(graph.resume("t1", [])).await;
    let state = graph.resume("t1", [Answer::new(&asked[0].id, "yes")]).await;
    assert_eq!(logged(&state.unwrap()), ["asked", "yes", "pay"]);
}
