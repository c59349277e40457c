//! How long nodes may run, and how they are tried again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use agent_core::BoxError;
use agent_core::graph::checkpoint::MemorySaver;
use agent_core::graph::{
    CancellationToken, CompiledGraph, END, FanOut, GraphEvent, NodeContext, NodeRetry, RunError,
    START, State, StateError, StateGraph, StateUpdate,
};
use tokio::time::Instant;

use super::{faults, graph, log, logged};

const SECOND: Duration = Duration::from_secs(1);

/// Set once it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug, thiserror::Error)]
#[error("no {0}")]
struct No(u32, #[source] Why);

#[derive(Debug, thiserror::Error)]
#[error("why {0}")]
struct Why(u32);

/// `before`, then `work`, which fails this often and says how often it was tried.
fn failing(times: u32, with: impl FnOnce(StateGraph) -> StateGraph) -> CompiledGraph {
    let graph = graph()
        .node("before", async |_: State| {
            Ok::<_, StateError>(log("before"))
        })
        .node(
            "work",
            move |state: State, context: NodeContext| async move {
                assert_eq!(logged(&state), ["before"], "each try begins alike");
                match context.attempt() {
                    attempt if attempt <= times => Err(No(attempt, Why(attempt))),
                    attempt => Ok(log(&format!("worked at {attempt}"))),
                }
            },
        )
        .edge(START, "before")
        .edge("before", "work")
        .edge("work", END);
    with(graph).compile().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_node_that_takes_too_long_is_dropped_and_named() {
    let dropped = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&dropped);
    let graph = graph()
        .node("hangs", move |_: State| {
            let guard = Dropped(Arc::clone(&seen));
            async move {
                let _guard = guard;
                std::future::pending::<()>().await;
                Ok::<_, StateError>(StateUpdate::new())
            }
        })
        .edge(START, "hangs")
        .edge("hangs", END)
        .node_timeout("hangs", 5 * SECOND)
        .compile()
        .unwrap();
    let began = Instant::now();

    let error = graph.run(log("input")).await.unwrap_err();

    assert_eq!(error.to_string(), "node `hangs` took longer than 5s");
    assert!(matches!(&error, RunError::TimedOut { node, limit, .. }
        if node == "hangs" && *limit == 5 * SECOND));
    assert_eq!(logged(error.state()), ["input"]);
    assert_eq!(began.elapsed().as_secs(), 5);
    assert!(dropped.load(Ordering::Relaxed));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_graph_inside_is_that_of_all_its_steps() {
    let sleeps = async |_: State| {
        tokio::time::sleep(3 * SECOND).await;
        Ok::<_, StateError>(StateUpdate::new())
    };
    let inner = StateGraph::new()
        .node("a", sleeps)
        .node("b", sleeps)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END);
    let within = |limit| {
        graph()
            .sub_graph("inner", inner.clone())
            .edge(START, "inner")
            .edge("inner", END)
            .node_timeout("inner", limit)
            .compile()
            .unwrap()
    };

    let error = within(5 * SECOND).run(()).await.unwrap_err();
    assert_eq!(error.to_string(), "node `inner` took longer than 5s");
    within(7 * SECOND).run(()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_node_is_tried_again_with_growing_delays_and_joined_once() {
    let retry = NodeRetry::new().attempts(4).min_delay(SECOND);
    let graph = failing(3, |graph| graph.node_retry("work", retry));
    let began = Instant::now();

    let mut events = graph.run(()).stream();
    let (mut retried, mut started, mut last) = (Vec::new(), 0, State::new());
    while let Some(event) = events.next().await {
        match event.unwrap() {
            GraphEvent::NodeStarted { .. } => started += 1,
            GraphEvent::NodeRetried {
                node,
                attempt,
                error,
                delay,
                step,
            } => {
                assert_eq!((&*node, step), ("work", 2));
                retried.push((attempt, error.to_string(), delay.as_secs()));
            }
            GraphEvent::Finished(state) => last = state,
            _ => {}
        }
    }

    assert_eq!(logged(&last), ["before", "worked at 4"]);
    assert_eq!(started, 2, "a retry is no step");
    let [(2, first, 1), (3, _, 2 | 3), (4, third, 4..=7)] = &retried[..] else {
        panic!("{retried:?}");
    };
    assert_eq!((&**first, &**third), ("no 1: why 1", "no 3: why 3"));
    assert!((7..14).contains(&began.elapsed().as_secs()));
}

#[tokio::test(start_paused = true)]
async fn after_the_last_try_the_run_fails_with_its_error() {
    let graph = failing(9, |graph| graph.node_retry("work", NodeRetry::new()));

    let error = graph.run(()).await.unwrap_err();

    let RunError::Node { node, source, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((&**node, source.to_string().as_str()), ("work", "no 3"));
    assert_eq!(logged(error.state()), ["before"]);
}

#[tokio::test(start_paused = true)]
async fn a_node_says_which_failures_are_worth_another_try() {
    let retry = NodeRetry::new().when(|error| matches!(error, RunError::TimedOut { .. }));
    let graph = failing(1, |graph| graph.node_retry("work", retry));

    let error = graph.run(()).await.unwrap_err();

    assert!(matches!(error, RunError::Node { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_node_out_of_time_is_tried_again_and_a_panic_is_not() {
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let slow_once = move |_: State| {
        let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if is_first {
                std::future::pending::<()>().await;
            }
            Ok::<_, StateError>(log("done"))
        }
    };
    let panics = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&panics);
    let graph = graph()
        .node("slow", slow_once)
        .node("panics", move |_: State| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move {
                if true {
                    panic!("on purpose");
                }
                Ok::<_, StateError>(StateUpdate::new())
            }
        })
        .edge(START, "slow")
        .edge("slow", "panics")
        .edge("panics", END)
        .node_timeout("slow", SECOND)
        .node_retry("slow", NodeRetry::new())
        .node_retry("panics", NodeRetry::new())
        .compile()
        .unwrap();

    let error = graph.run(()).await.unwrap_err();

    assert!(matches!(&error, RunError::Panicked { node, .. } if node == "panics"));
    assert_eq!(logged(error.state()), ["done"]);
    let tries = (
        tries.load(Ordering::Relaxed),
        panics.load(Ordering::Relaxed),
    );
    assert_eq!(tries, (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_does_not_wait_for_the_next_try() {
    let retry = NodeRetry::new()
        .min_delay(1000 * SECOND)
        .max_delay(1000 * SECOND);
    let token = CancellationToken::new();
    let graph = failing(9, |graph| graph.node_retry("work", retry));
    let mut events = graph.run(()).cancel_token(token.clone()).stream();
    let began = Instant::now();
    let end = loop {
        match events.next().await.unwrap() {
            Ok(GraphEvent::NodeRetried { .. }) => token.cancel(),
            Ok(_) => {}
            Err(error) => break error,
        }
    };

    assert!(end.is_cancelled());
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_node_of_a_thread_that_was_tried_in_vain_is_tried_again_on_resume() {
    let saver = MemorySaver::new();
    let vain = failing(9, |graph| graph.node_retry("work", NodeRetry::new()));
    vain.run(())
        .thread("t")
        .saver(saver.clone())
        .await
        .unwrap_err();

    let state = failing(1, |graph| graph.node_retry("work", NodeRetry::new()))
        .resume("t", [])
        .saver(saver)
        .await
        .unwrap();

    assert_eq!(logged(&state), ["before", "worked at 2"]);
}

#[tokio::test(start_paused = true)]
async fn branches_have_their_own_times_and_tries() {
    let graph = graph()
        .node("good", async |_: State| Ok::<_, StateError>(log("good")))
        .node(
            "bad",
            async |_: State, context: NodeContext| match context.attempt() {
                1 => Err(BoxError::from("not yet")),
                _ => Ok(log("bad")),
            },
        )
        .edge(START, "bad")
        .edge(START, "good")
        .edge("bad", END)
        .edge("good", END)
        .node_retry("bad", NodeRetry::new())
        .compile()
        .unwrap();

    assert_eq!(logged(&graph.run(()).await.unwrap()), ["bad", "good"]);
}

#[test]
fn a_time_or_retry_of_no_node_and_a_retry_of_a_graph_are_faults() {
    let inner = StateGraph::new()
        .node("a", async |_: State| Ok::<_, StateError>(()))
        .edge(START, "a")
        .edge("a", END);

    let faults = faults(
        graph()
            .sub_graph("inner", inner)
            .edge(START, "inner")
            .edge("inner", END)
            .node_timeout("typo", SECOND)
            .node_retry("misspelt", NodeRetry::new())
            .node_retry("inner", NodeRetry::new())
            .interrupt_after("nowhere"),
    );

    assert_eq!(
        faults,
        [
            "pause at `nowhere`, which is no node",
            "a timeout or retry of `typo`, which is no node",
            "a timeout or retry of `misspelt`, which is no node",
            "`inner` is a graph and not tried again as a whole; its own nodes may be",
        ]
    );
}

/// An error that names itself as its cause.
#[derive(Debug)]
struct Endless;

impl std::fmt::Display for Endless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("endless")
    }
}

impl std::error::Error for Endless {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self)
    }
}

#[tokio::test]
async fn an_error_that_names_itself_as_its_cause_ends_the_run_all_the_same() {
    let graph = graph()
        .node("fails", async |_: State| Err::<StateUpdate, _>(Endless))
        .edge(START, "fails")
        .edge("fails", END)
        .compile()
        .unwrap();

    let error = graph.run(()).await.unwrap_err();

    assert!(matches!(error, RunError::Node { .. }), "{error:?}");
}

/// Panics when it is dropped.
struct Brittle;

impl Drop for Brittle {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// A node that hangs, and panics once somebody gives up on it.
async fn hangs(_: State) -> Result<StateUpdate, BoxError> {
    let _brittle = Brittle;
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_node_that_panics_as_it_is_given_up_does_not_take_the_run_with_it() {
    let race = graph()
        .node("hangs", hangs)
        .node("wins", async |_: State| {
            tokio::time::sleep(SECOND).await;
            Ok::<_, BoxError>(log("wins"))
        })
        .edge(START, "hangs")
        .edge(START, "wins")
        .edge("hangs", END)
        .edge("wins", END)
        .fan_out(START, FanOut::any())
        .compile()
        .unwrap();
    let late = graph()
        .node("hangs", hangs)
        .node_timeout("hangs", SECOND)
        .edge(START, "hangs")
        .edge("hangs", END)
        .compile()
        .unwrap();

    assert_eq!(logged(&race.run(()).await.unwrap()), ["wins"]);
    let error = late.run(()).await.unwrap_err();
    assert!(matches!(error, RunError::TimedOut { .. }), "{error:?}");
}
