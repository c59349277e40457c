//! Properties of joins: branches give what their updates give one after another, and a thread
//! gives back what was there.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use agent_core::BoxError;
use agent_core::graph::checkpoint::{Durability, MemorySaver, Threads};
use agent_core::graph::{
    CompiledGraph, END, KeyStrategies, KeyStrategy, START, State, StateGraph, StateUpdate,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One change that any of the strategies takes.
fn change() -> impl Strategy<Value = (usize, Value)> {
    let small = 0..4_i64;
    let object = proptest::collection::btree_map("[a-c]", small.clone(), 0..3);
    prop_oneof![
        small.clone().prop_map(|n| (0, json!(n))),
        proptest::collection::vec(small.clone(), 0..3).prop_map(|list| (0, json!(list))),
        Just((0, Value::Null)),
        proptest::collection::vec(small.clone(), 0..3).prop_map(|list| (1, json!(list))),
        object.prop_map(|object| (2, json!(object))),
        small.clone().prop_map(|n| (3, json!(n))),
        small.prop_map(|n| (4, json!(n))),
        // Removals and whole lists.
        (0..4_i64).prop_map(|n| (5, json!(n))),
        proptest::collection::vec(0..4_i64, 0..3).prop_map(|list| (6, json!(list))),
    ]
}

fn update(changes: &[(usize, Value)]) -> StateUpdate {
    let mut update = StateUpdate::new();
    for (kind, value) in changes {
        update = match kind {
            5 => update.remove_item("append", value.clone()),
            6 => update.replace_all("append", value.as_array().unwrap().clone()),
            kind => update.put(KEYS[*kind], value.clone()),
        };
    }
    update
}

const KEYS: [&str; 5] = ["append", "distinct", "merge", "replace", "custom"];

fn strategies() -> KeyStrategies {
    let sum = KeyStrategy::custom(|old, new| {
        let old = old.and_then(Value::as_i64).unwrap_or(0);
        Ok(json!(old * 3 + new.as_i64().unwrap_or(0)))
    });
    KeyStrategies::new()
        .with("append", KeyStrategy::Append)
        .with("distinct", KeyStrategy::AppendDistinct)
        .with("merge", KeyStrategy::Merge)
        .with("replace", KeyStrategy::Replace)
        .with("custom", sum)
}

/// Branches of nodes that each return one update.
fn graph(branches: &[Vec<Vec<(usize, Value)>>]) -> CompiledGraph {
    let mut graph = StateGraph::new();
    for (key, strategy) in strategies().iter() {
        graph = graph.key(key, strategy.clone());
    }
    for (branch, nodes) in branches.iter().enumerate() {
        let mut last = START.to_owned();
        for (position, changes) in nodes.iter().enumerate() {
            let name = format!("{branch}.{position}");
            let update = update(changes);
            graph = graph
                .node(name.as_str(), move |_: State| {
                    let update = update.clone();
                    async move { Ok::<_, BoxError>(update) }
                })
                .edge(last, name.as_str());
            last = name;
        }
        graph = graph.edge(last, END);
    }
    graph.compile().unwrap()
}

fn branches() -> impl Strategy<Value = Vec<Vec<Vec<(usize, Value)>>>> {
    let node = proptest::collection::vec(change(), 0..4);
    proptest::collection::vec(proptest::collection::vec(node, 1..4), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    // PA-4, KS-3, KS-6, KS-15
    #[test]
    fn branches_give_what_their_updates_give_one_after_another(branches in branches()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut expected = State::new();
        for changes in branches.iter().flatten() {
            strategies().apply(&mut expected, update(changes)).unwrap();
        }

        let state = runtime.block_on(graph(&branches).run(()).into_future()).unwrap();

        prop_assert_eq!(state, expected);
    }

    // CK-7
    #[test]
    fn a_thread_gives_back_what_was_there(runs in proptest::collection::vec(branches(), 1..3)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let saver = MemorySaver::new();
        let mut last = State::new();
        for (run, branches) in runs.iter().enumerate() {
            let durability = match run % 3 {
                0 => Durability::EachWrite,
                1 => Durability::EachStep,
                _ => Durability::AtEnd,
            };
            let graph = graph(branches).saver(saver.clone());
            let run = graph.run(()).thread("t1").durability(durability);
            last = runtime.block_on(run.into_future()).unwrap();
        }

        let threads = Threads::new(saver);
        let stored = runtime.block_on(threads.state("t1", None)).unwrap();

        prop_assert_eq!(stored, Some(last));
    }
}
