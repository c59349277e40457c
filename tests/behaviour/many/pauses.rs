//! Answering them one by one: what a resume writes and reads does not grow with what still waits.

use std::collections::HashSet;
use std::future::ready;

use agent_core::graph::checkpoint::{Durability, MemorySaver, Threads};
use agent_core::graph::{
    Answer, CompiledGraph, END, KeyStrategy, NodeContext, NodeInterrupt, NodeOutput, RunError,
    START, State, StateGraph, StateUpdate,
};
use agent_core::{BoxError, Outcome};
use agent_tests::runs::results;
use agent_tests::tools::tool;
use serde_json::{Value, json};

use super::runs::{agent, done};

const COUNT: usize = 50;

/// What a resume may write, whatever waits.
const BYTES: u64 = 2_000;

/// Approved, run with other arguments, and rejected, in turn, from the middle.
#[test]
fn calls_of_one_reply() {
    let echo = tool("f", (), async |(), arguments: Value, _| {
        arguments.to_string()
    });
    let saver = MemorySaver::new();
    let agent = agent(100, echo).approval(|_, _| true);
    let agent = agent.saver(saver.clone()).build().unwrap();

    let output = done(async {
        let mut output = agent.run("Go").thread("t").await.unwrap();
        let mut left = 100;
        while let Outcome::Interrupted(asked) = output.outcome() {
            assert_eq!(asked.len(), left);
            let (id, before) = (&asked[left / 2].id, saver.bytes_written());
            let answer = match left % 3 {
                0 => Answer::approve(id),
                1 => Answer::edit(id, json!({"left": left})),
                _ => Answer::reject(id, format!("{left} are left")),
            };
            output = agent.resume("t", [answer]).await.unwrap();
            left -= 1;
            // With the last one the model is asked again.
            assert!(left == 0 || saver.bytes_written() - before < BYTES);
        }
        assert_eq!(left, 0);
        output
    });

    assert_eq!(output.text(), "done");
    let results = results(output.messages());
    assert_eq!(results.len(), 100);
    let [approved, edited, rejected] = [49, 50, 51].map(|at: usize| results[at].text());
    assert_eq!(edited, r#"{"left":100}"#);
    assert_eq!(approved, "{}");
    assert_eq!(rejected, "Error: denied: 98 are left");
}

fn log(text: &str) -> StateUpdate {
    StateUpdate::new().put("log", json!([text]))
}

async fn asks(_: State, context: NodeContext) -> Result<NodeOutput, BoxError> {
    Ok(match context.answer::<String>()? {
        None => NodeOutput::default().interrupt("What?"),
        Some(answer) => log(&answer).into(),
    })
}

fn graph() -> StateGraph {
    StateGraph::new().key("log", KeyStrategy::Append)
}

/// A branch for each item, which asks.
fn branches() -> CompiledGraph {
    let items = |_: &State| {
        let item = |number: usize| json!({"number": number, "text": "to do ".repeat(20)});
        let items = (0..COUNT).map(|number| StateUpdate::new().put("item", item(number)));
        Ok::<_, BoxError>(items.collect())
    };
    let join = |_| ready(Ok::<_, BoxError>(log("joined")));
    let graph = graph().node("ask", asks).node("join", join);
    let graph = graph.for_each(START, "ask", "join", items);
    let graph = graph.edge("ask", "join").edge("join", END);
    graph.compile().unwrap()
}

/// A node that asks all at once, and those that are left again.
fn one_node() -> CompiledGraph {
    let asks = async |_: State, context: NodeContext| {
        let mut left = NodeOutput::default();
        let mut is_done = true;
        for number in 0..COUNT {
            let name = number.to_string();
            if context.answer_to::<String>(&name)?.is_none() {
                left = left.ask(name, json!({"number": number}));
                is_done = false;
            }
        }
        Ok::<_, BoxError>(match is_done {
            true => log(&context.answer::<String>()?.unwrap_or_default()).into(),
            false => left,
        })
    };
    let graph = graph().node("ask", asks);
    graph.edge(START, "ask").edge("ask", END).compile().unwrap()
}

fn inside(child: CompiledGraph) -> CompiledGraph {
    let graph = graph().node("child", child);
    let graph = graph.edge(START, "child").edge("child", END);
    graph.compile().unwrap()
}

fn asked(end: Result<State, RunError>) -> Result<State, Vec<NodeInterrupt>> {
    match end {
        Ok(state) => Ok(state),
        Err(RunError::Interrupted { interrupts, .. }) => Err(interrupts),
        Err(error) => panic!("{error}"),
    }
}

/// Answers one question after the other, from the middle, each by its number among them. Gives
/// what was logged.
async fn answered(graph: CompiledGraph, durability: Durability) -> Value {
    let saver = MemorySaver::new();
    let graph = graph.saver(saver.clone());
    let run = graph.run(()).thread("t").durability(durability);
    let (mut end, mut ids) = (asked(run.await), HashSet::new());
    let state = loop {
        let waiting = match end {
            Ok(state) => break state,
            Err(waiting) => waiting,
        };
        assert_eq!(waiting.len(), COUNT - ids.len());
        let (id, before) = (waiting[waiting.len() / 2].id.clone(), saver.bytes_written());
        let answer = Answer::new(&id, ids.len().to_string());
        let run = graph.resume("t", [answer]).durability(durability);
        end = asked(run.await);
        assert!(ids.insert(id), "asked again");
        assert!(end.is_ok() || saver.bytes_written() - before < BYTES);
    };
    let threads = Threads::new(saver);
    let history = threads.history("t", 1_000).await.unwrap();
    let waited = history.iter().map(|it| it.interrupts.len());
    let waited: Vec<usize> = waited.filter(|count| *count > 0).collect();
    assert_eq!(waited, (1..=COUNT).collect::<Vec<_>>());
    assert_eq!(threads.history("t", 3).await.unwrap(), history[..3]);
    state.value("log").cloned().unwrap_or_default()
}

/// The numbers of the answers, in the order of the questions.
fn from_the_middle() -> Vec<String> {
    let mut left: Vec<usize> = (0..COUNT).collect();
    let mut all = vec![String::new(); COUNT];
    for number in 0..COUNT {
        all[left.remove(left.len() / 2)] = number.to_string();
    }
    all
}

const ALL: [Durability; 3] = [
    Durability::EachWrite,
    Durability::EachStep,
    Durability::AtEnd,
];

#[test]
fn branches_side_by_side() {
    for durability in ALL {
        let log = done(answered(branches(), durability));

        let mut expected = from_the_middle();
        expected.push("joined".to_owned());
        assert_eq!(log, json!(expected), "{durability:?}");
    }
}

#[test]
fn branches_of_a_graph_inside() {
    let log = done(answered(inside(branches()), Durability::EachWrite));

    assert_eq!(log.as_array().map(Vec::len), Some(COUNT + 1));
}

#[test]
fn questions_of_one_node() {
    let last = (COUNT - 1).to_string();
    for durability in ALL {
        let log = done(answered(one_node(), durability));

        assert_eq!(log, json!([last]), "{durability:?}");
    }
    let log = done(answered(inside(one_node()), Durability::EachWrite));

    assert_eq!(log, json!([last]));
}
