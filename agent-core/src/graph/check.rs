//! What makes a graph uncompilable. Every check reports all it finds.

use std::collections::{BTreeMap, HashSet};

use super::builder::StateGraph;
use super::{END, GraphFault, START};
use crate::state::MESSAGES;

pub(super) fn check(graph: &StateGraph) -> Vec<GraphFault> {
    let mut faults = Vec::new();
    check_keys(graph, &mut faults);
    check_nodes(graph, &mut faults);
    check_edges(graph, &mut faults);
    check_conditionals(graph, &mut faults);
    check_ways(graph, &mut faults);
    faults
}

fn check_keys(graph: &StateGraph, faults: &mut Vec<GraphFault>) {
    if graph.strategies.declared(MESSAGES).is_some() {
        faults.push(GraphFault::ReservedKey {
            key: MESSAGES.to_owned(),
        });
    }
}

fn check_nodes(graph: &StateGraph, faults: &mut Vec<GraphFault>) {
    let mut seen = HashSet::new();
    let mut reported = HashSet::new();
    for node in &graph.nodes {
        let name = node.name.to_string();
        if name.trim().is_empty() {
            faults.push(GraphFault::BlankNode { node: name.clone() });
        } else if name.starts_with("__") {
            faults.push(GraphFault::ReservedNode { node: name.clone() });
        }
        if !seen.insert(&node.name) && reported.insert(&node.name) {
            faults.push(GraphFault::DuplicateNode { node: name });
        }
    }
}

fn check_edges(graph: &StateGraph, faults: &mut Vec<GraphFault>) {
    let mut by_source: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut sources = Vec::new();
    for (position, edge) in graph.edges.iter().enumerate() {
        check_ends(graph, &edge.from, &edge.to, faults);
        if graph.edges[..position].contains(edge) {
            faults.push(GraphFault::DuplicateEdge {
                from: edge.from.clone(),
                to: edge.to.clone(),
            });
            continue;
        }
        let targets = by_source.entry(&edge.from).or_default();
        if targets.is_empty() {
            sources.push(edge.from.as_str());
        }
        targets.push(edge.to.clone());
    }
    for from in sources {
        let targets = by_source.remove(from).unwrap_or_default();
        if targets.len() > 1 {
            faults.push(GraphFault::ParallelBranches {
                from: from.to_owned(),
                targets,
            });
        }
    }
    for goto in &graph.gotos {
        check_ends(graph, &goto.from, &goto.to, faults);
        if goto.from == START {
            faults.push(GraphFault::UnknownSource {
                from: goto.from.clone(),
                to: goto.to.clone(),
            });
        }
    }
}

fn check_conditionals(graph: &StateGraph, faults: &mut Vec<GraphFault>) {
    for (position, conditional) in graph.conditionals.iter().enumerate() {
        let from = &conditional.from;
        if conditional.routes.is_empty() {
            faults.push(GraphFault::NoRoutes { from: from.clone() });
        }
        let mut names = HashSet::new();
        for route in &conditional.routes {
            check_ends(graph, from, route.target(), faults);
            if !names.insert(route.name()) {
                faults.push(GraphFault::DuplicateRoute {
                    from: from.clone(),
                    route: route.name().to_owned(),
                });
            }
        }
        let earlier = &graph.conditionals[..position];
        if earlier.iter().any(|other| other.from == *from) {
            faults.push(GraphFault::DuplicateConditionalEdges { from: from.clone() });
        } else if let Some(edge) = graph.edges.iter().find(|edge| edge.from == *from)
            && from != END
        {
            faults.push(GraphFault::MixedEdges {
                from: from.clone(),
                to: edge.to.clone(),
            });
        }
    }
}

fn check_ends(graph: &StateGraph, from: &str, to: &str, faults: &mut Vec<GraphFault>) {
    let is_node = |name: &str| graph.nodes.iter().any(|node| *node.name == *name);
    let names = || (from.to_owned(), to.to_owned());
    if from == END {
        faults.push(GraphFault::EdgeFromEnd { to: to.to_owned() });
    } else if from != START && !is_node(from) {
        let (from, to) = names();
        faults.push(GraphFault::UnknownSource { from, to });
    }
    if to == START {
        faults.push(GraphFault::EdgeToStart {
            from: from.to_owned(),
        });
    } else if to != END && !is_node(to) {
        let (from, to) = names();
        faults.push(GraphFault::UnknownTarget { from, to });
    }
}

fn check_ways(graph: &StateGraph, faults: &mut Vec<GraphFault>) {
    let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in graph.edges.iter().chain(&graph.gotos) {
        ways.entry(&edge.from).or_default().push(&edge.to);
    }
    for conditional in &graph.conditionals {
        let targets = conditional.routes.iter().map(|route| route.target());
        ways.entry(&conditional.from).or_default().extend(targets);
    }

    let has_start = ways.contains_key(START);
    if !has_start {
        faults.push(GraphFault::NoStart);
    }
    let mut reached: HashSet<&str> = HashSet::new();
    let mut open = vec![START];
    while let Some(name) = open.pop() {
        if reached.insert(name) {
            open.extend(ways.get(name).into_iter().flatten());
        }
    }
    for node in &graph.nodes {
        // Without a start every node is out of reach, and one fault says it.
        if has_start && !reached.contains(node.name.as_ref()) {
            faults.push(GraphFault::Unreachable {
                node: node.name.to_string(),
            });
        }
        if !ways.contains_key(node.name.as_ref()) {
            faults.push(GraphFault::NoWayOut {
                node: node.name.to_string(),
            });
        }
    }
}
