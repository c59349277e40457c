//! Pauses that are answered bit by bit: each checkpoint knows what waited there.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use agent_core::BoxError;
use agent_core::graph::checkpoint::{
    CheckpointError, CheckpointId, CheckpointSaver, Commit, MemorySaver, StoredCheckpoint,
    ThreadChange, Threads,
};
use agent_core::graph::{
    Answer, CompiledGraph, END, NodeContext, NodeOutput, RunError, START, State, StateUpdate,
};
use serde_json::json;

use super::threads::{graph, log, logged, paused, refused, says};

/// Asks for two words, each as long as it has no answer.
pub(super) async fn asks_twice(_: State, context: NodeContext) -> Result<NodeOutput, BoxError> {
    let mut output = NodeOutput::default();
    let mut words = Vec::new();
    for name in ["first", "second"] {
        match context.answer_to::<String>(name)? {
            Some(word) => words.push(word),
            None => output = output.ask(name, json!({"ask": name})),
        }
    }
    Ok(match words.len() {
        2 => NodeOutput::new(log(&words.join(" "))),
        _ => output,
    })
}

/// Two branches for two items, and a graph inside of a third, which all ask twice.
pub(super) fn asking() -> CompiledGraph {
    let items = |_: &State| {
        let items = ["x", "y"].map(|item| StateUpdate::new().put("item", json!(item)));
        Ok::<_, BoxError>(items.to_vec())
    };
    let inner = graph()
        .node("ask", asks_twice)
        .node("meet", says)
        .for_each(START, "ask", "meet", items)
        .edge("ask", "meet")
        .edge("meet", END);
    graph()
        .node("other", asks_twice)
        .sub_graph("inner", inner)
        .node("join", says)
        .edge(START, "inner")
        .edge(START, "other")
        .edge("inner", "join")
        .edge("other", "join")
        .edge("join", END)
        .compile()
        .unwrap()
}

pub(super) const WORDS: [&str; 5] = ["x1 x2", "y1 y2", "meet", "o1 o2", "join"];

/// The answer to each question by its place, as all say the same in the end.
pub(super) fn answers(waiting: &[String]) -> Vec<Answer> {
    let word = |id: &String| {
        let branch = [
            (">0/inner/__START__>0/", "x"),
            (">0/inner/__START__>1/", "y"),
        ];
        let branch = branch.iter().find(|(place, _)| id.contains(place));
        let number = if id.ends_with("first") { 1 } else { 2 };
        format!("{}{number}", branch.map_or("o", |(_, word)| word))
    };
    waiting.iter().map(|id| Answer::new(id, word(id))).collect()
}

/// Answers one by one up to the end, the last one first.
async fn answered(graph: &CompiledGraph, thread: &str) -> State {
    let mut run = graph.resume(thread, []);
    loop {
        match run.await {
            Ok(state) => return state,
            Err(RunError::Interrupted { interrupts, .. }) => {
                let last = interrupts.last().map(|it| it.id.clone());
                run = graph.resume(thread, answers(last.as_slice()));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn what_waited_is_known_at_each_checkpoint_wherever_it_is_gone_on_with() {
    let saver = MemorySaver::new();
    let (graph, threads) = (asking().saver(saver.clone()), Threads::new(saver));
    paused(graph.run(()).thread("t1")).await;

    assert_eq!(logged(&answered(&graph, "t1").await), WORDS);

    let history = threads.history("t1", 100).await.unwrap();
    let paused_at = history.iter().filter(|it| !it.interrupts.is_empty());
    let paused_at: Vec<_> = paused_at.collect();
    let waited: Vec<usize> = paused_at.iter().map(|it| it.interrupts.len()).collect();
    // Twice without an answer.
    assert_eq!(waited, [1, 2, 3, 4, 5, 6, 6]);
    for (number, checkpoint) in paused_at.into_iter().enumerate() {
        let fork = format!("fork {number}");
        threads
            .fork("t1", Some(&checkpoint.id), &fork)
            .await
            .unwrap();
        assert_eq!(logged(&answered(&graph, &fork).await), WORDS);
        let again = graph.resume("t1", answers(&checkpoint.interrupts));
        let state = again.at(checkpoint.id.clone()).await.unwrap();
        assert_eq!(logged(&state), WORDS);
    }
}

#[tokio::test]
async fn a_thread_is_cut_anywhere_in_a_pause_and_goes_on() {
    for kept in 1..=6 {
        for answers_before in 0..=4 {
            let saver = MemorySaver::new();
            let (graph, threads) = (asking().saver(saver.clone()), Threads::new(saver));
            let mut asked = paused(graph.run(()).thread("t1")).await;
            for _ in 0..answers_before {
                let id = asked[asked.len() / 2].id.clone();
                asked = paused(graph.resume("t1", answers(&[id]))).await;
            }

            threads.retain("t1", kept).await.unwrap();

            assert_eq!(paused(graph.resume("t1", [])).await, asked);
            assert_eq!(logged(&answered(&graph, "t1").await), WORDS);
        }
    }
}

#[tokio::test]
async fn a_branch_that_is_over_takes_no_second_answer() {
    let graph = asking().saver(MemorySaver::new());
    let asked = paused(graph.run(()).thread("t1")).await;
    let other: Vec<String> = asked[4..].iter().map(|it| it.id.clone()).collect();
    let rest = paused(graph.resume("t1", answers(&other))).await;
    assert_eq!(rest, asked[..4]);

    let error = refused(graph.resume("t1", answers(&other)).await);

    assert!(
        matches!(error, CheckpointError::AlreadyAnswered { .. }),
        "{error:?}"
    );
    let error = refused(graph.run(()).thread("t1").await);
    let CheckpointError::Pending { interrupts, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(interrupts.len(), 4);
}

#[tokio::test]
async fn a_node_that_asks_one_thing_twice_leaves_a_thread_that_can_be_read() {
    let asks = async |_: State, context: NodeContext| {
        let again = NodeOutput::default().ask("a", "A?").ask("a", "A?");
        Ok::<_, BoxError>(match context.answer_to::<String>("b")? {
            None => again.ask("b", "B?").ask("c", "C?"),
            Some(_) if context.answer_to::<String>("c")?.is_none() => again.ask("c", "C?"),
            Some(word) => NodeOutput::new(log(&word)),
        })
    };
    let graph = graph().node("ask", asks);
    let graph = graph.edge(START, "ask").edge("ask", END).compile().unwrap();
    let graph = graph.saver(MemorySaver::new());
    let mut asked = paused(graph.run(()).thread("t1")).await;
    let mut state = None;
    for key in ["b", "c"] {
        // The same once more, and again with an answer.
        let last = asked.iter().rfind(|it| it.key == key).unwrap();
        match graph.resume("t1", [Answer::new(&last.id, key)]).await {
            Err(RunError::Interrupted { interrupts, .. }) => asked = interrupts,
            end => state = Some(end.unwrap()),
        }
    }

    assert_eq!(logged(&state.unwrap()), ["b"]);
}

#[tokio::test]
async fn a_checkpoint_that_takes_what_its_parent_has_not_cannot_be_read() {
    let text = |next: &str, interrupts: &str| {
        let lists = format!(r#"{next}"delta":[],"interrupts":[{interrupts}]"#);
        format!(r#"{{"format":1,"checkpoint":{{"step":9,"created_ms":0,"ran":[],{lists}}}}}"#)
    };
    let next = r#""next":{"node":"join"},"#;
    for (is_first, text) in [
        (false, text(next, "[0,7]")),
        (false, text(next, "[7,8]")),
        (false, text(next, "[1,0]")),
        (false, text(next, "[0,5],[0,5]")),
        (false, text(next, "[0,1,2]")),
        (false, text(next, "[0]")),
        (false, text(next, "[-1,0]")),
        (false, text(next, "0")),
        (true, text(next, "[0,1]")),
        (true, text("", "")),
    ] {
        let saver = MemorySaver::new();
        let (graph, threads) = (asking().saver(saver.clone()), Threads::new(saver.clone()));
        let mut parent = None;
        if !is_first {
            paused(graph.run(()).thread("t1")).await;
            parent = Some(threads.history("t1", 1).await.unwrap()[0].id.clone());
        }
        let stored = saver.load("t1", None).await.unwrap();
        let change = ThreadChange::Checkpoint(StoredCheckpoint {
            id: CheckpointId::new("broken"),
            parent,
            payload: text.as_bytes().into(),
        });
        let expected = stored.map_or(0, |stored| stored.version);
        saver
            .commit("t1", Commit { expected, change })
            .await
            .unwrap();

        let error = refused(graph.resume("t1", []).await);
        let is_told =
            |error| matches!(error, CheckpointError::Decode { key, .. } if key == "broken");
        assert!(is_told(error), "{text}");
        assert!(
            is_told(threads.history("t1", 1).await.unwrap_err()),
            "{text}"
        );
    }
}
