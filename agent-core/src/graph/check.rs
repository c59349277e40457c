//! What makes a graph uncompilable. Every check reports all it finds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::builder::{EdgesBySource, StateGraph};
use super::compiled::{Target, ways};
use super::join::Joins;
use super::{END, GraphFault, START};
use crate::state::MESSAGES;

pub(super) fn check(graph: &StateGraph) -> Vec<GraphFault> {
    let mut faults = Vec::new();
    let edges = graph.edges_by_source();
    let nodes = graph.nodes.iter().map(|node| &*node.name).collect();
    check_keys(graph, &mut faults);
    check_nodes(graph, &mut faults);
    check_edges(graph, (&nodes, &edges), &mut faults);
    check_conditionals(graph, (&nodes, &edges), &mut faults);
    check_ways(graph, &mut faults);
    check_places(graph, (&nodes, &edges), &mut faults);
    if faults.is_empty() {
        // Where ways meet can only be told of a graph that hangs together.
        check_branches(graph, &edges, &mut faults);
    }
    faults
}

/// The names of the nodes.
type Nodes<'a> = HashSet<&'a str>;

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

fn check_edges(
    graph: &StateGraph,
    (nodes, edges): (&Nodes<'_>, &EdgesBySource<'_>),
    faults: &mut Vec<GraphFault>,
) {
    let mut seen = HashSet::new();
    for edge in &graph.edges {
        check_ends(nodes, &edge.from, &edge.to, faults);
        if !seen.insert((&edge.from, &edge.to)) {
            faults.push(GraphFault::DuplicateEdge {
                from: edge.from.clone(),
                to: edge.to.clone(),
            });
        }
    }
    for (position, each) in graph.each.iter().enumerate() {
        check_ends(nodes, &each.from, &each.to, faults);
        check_ends(nodes, &each.from, &each.join, faults);
        let twice = graph.each[..position].iter().any(|it| it.from == each.from);
        let routed = graph.conditionals.iter().any(|it| it.from == each.from);
        if twice || routed {
            let from = each.from.clone();
            faults.push(GraphFault::DuplicateConditionalEdges { from });
        }
        if let Some(targets) = edges.get(each.from.as_str()) {
            faults.push(GraphFault::MixedEdges {
                from: each.from.clone(),
                to: targets[0].to_owned(),
            });
        }
    }
    for goto in &graph.gotos {
        check_ends(nodes, &goto.from, &goto.to, faults);
        if goto.from == START {
            faults.push(GraphFault::UnknownSource {
                from: goto.from.clone(),
                to: goto.to.clone(),
            });
        }
    }
}

fn check_conditionals(
    graph: &StateGraph,
    (nodes, edges): (&Nodes<'_>, &EdgesBySource<'_>),
    faults: &mut Vec<GraphFault>,
) {
    let mut sources = HashSet::new();
    for conditional in &graph.conditionals {
        let from = &conditional.from;
        if conditional.routes.is_empty() {
            faults.push(GraphFault::NoRoutes { from: from.clone() });
        }
        let mut names = HashSet::new();
        for route in &conditional.routes {
            check_ends(nodes, from, route.target(), faults);
            if !names.insert(route.name()) {
                faults.push(GraphFault::DuplicateRoute {
                    from: from.clone(),
                    route: route.name().to_owned(),
                });
            }
        }
        if !sources.insert(from) {
            faults.push(GraphFault::DuplicateConditionalEdges { from: from.clone() });
        } else if let Some(targets) = edges.get(from.as_str())
            && from != END
        {
            faults.push(GraphFault::MixedEdges {
                from: from.clone(),
                to: targets[0].to_owned(),
            });
        }
    }
}

fn check_ends(nodes: &Nodes<'_>, from: &str, to: &str, faults: &mut Vec<GraphFault>) {
    let names = || (from.to_owned(), to.to_owned());
    if from == END {
        faults.push(GraphFault::EdgeFromEnd { to: to.to_owned() });
    } else if from != START && !nodes.contains(from) {
        let (from, to) = names();
        faults.push(GraphFault::UnknownSource { from, to });
    }
    if to == START {
        faults.push(GraphFault::EdgeToStart {
            from: from.to_owned(),
        });
    } else if to != END && !nodes.contains(to) {
        let (from, to) = names();
        faults.push(GraphFault::UnknownTarget { from, to });
    }
}

fn check_ways(graph: &StateGraph, faults: &mut Vec<GraphFault>) {
    let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in graph.ways() {
        ways.entry(from).or_default().push(to);
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

fn check_places(
    graph: &StateGraph,
    (nodes, edges): (&Nodes<'_>, &EdgesBySource<'_>),
    faults: &mut Vec<GraphFault>,
) {
    for name in graph.pauses_before.iter().chain(&graph.pauses_after) {
        if !nodes.contains(name.as_str()) {
            let node = name.clone();
            faults.push(GraphFault::UnknownBreakpoint { node });
        }
    }
    let policies = graph.timeouts.iter().map(|(name, _)| name);
    #[cfg(feature = "retry")]
    let policies = policies.chain(graph.retries.iter().map(|(name, _)| name));
    for name in policies {
        if !nodes.contains(name.as_str()) {
            let node = name.clone();
            faults.push(GraphFault::UnknownPolicy { node });
        }
    }
    #[cfg(feature = "retry")]
    for (name, _) in &graph.retries {
        let node = graph.nodes.iter().find(|node| *node.name == **name);
        if node.is_some_and(|node| node.action.sub_graph().is_some()) {
            let node = name.clone();
            faults.push(GraphFault::RetriedGraph { node });
        }
    }
    for (from, _) in &graph.fan_outs {
        let edges = edges.get(from.as_str()).map_or(0, Vec::len);
        let each = graph.each.iter().any(|each| each.from == *from);
        let routed = graph.conditionals.iter().any(|it| it.from == *from);
        if edges < 2 && !each && !routed {
            faults.push(GraphFault::NoBranches { from: from.clone() });
        }
    }
}

fn check_branches(graph: &StateGraph, edges: &EdgesBySource<'_>, faults: &mut Vec<GraphFault>) {
    let nodes = graph.nodes.iter().enumerate();
    let index: HashMap<Arc<str>, usize> = nodes
        .map(|(position, node)| (Arc::clone(&node.name), position))
        .collect();
    let ways = ways(graph, &index);
    let joins = Joins::of(&ways);
    let target = |name: &str| match index.get(name) {
        Some(node) => Target::Node(*node),
        None => Target::End,
    };
    let sources = std::iter::once(START).chain(graph.nodes.iter().map(|node| &*node.name));
    for from in sources {
        let Some(targets) = edges.get(from).filter(|targets| targets.len() > 1) else {
            continue;
        };
        let all: Vec<Target> = targets.iter().map(|name| target(name)).collect();
        let Some(join) = joins.nearest(&all) else {
            faults.push(GraphFault::NoJoin {
                from: from.to_owned(),
                targets: targets.iter().copied().map(str::to_owned).collect(),
            });
            continue;
        };
        for (name, start) in targets.iter().copied().zip(all) {
            check_way_back(&ways, (target(from), from), (start, name), join, faults);
        }
    }
    for each in &graph.each {
        let (start, join) = (target(&each.to), target(&each.join));
        let name = each.to.as_str();
        let from = (target(&each.from), each.from.as_str());
        check_way_back(&ways, from, (start, name), join, faults);
        if join != Target::End && !reaches(&ways, start, join, join) {
            faults.push(GraphFault::UnreachableJoin {
                from: each.from.clone(),
                to: each.to.clone(),
                join: each.join.clone(),
            });
        }
    }
}

/// A branch that comes back to its own beginning would begin all branches anew inside of itself.
fn check_way_back(
    ways: &[Vec<usize>],
    (source, from): (Target, &str),
    (start, to): (Target, &str),
    join: Target,
    faults: &mut Vec<GraphFault>,
) {
    if from != START && reaches(ways, start, source, join) {
        faults.push(GraphFault::BranchLeadsBack {
            from: from.to_owned(),
            to: to.to_owned(),
        });
    }
}

/// True if a way leads from one node to another and does not go on behind `stop`.
fn reaches(ways: &[Vec<usize>], from: Target, to: Target, stop: Target) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if let Target::Node(node) = at
            && at != stop
            && seen.insert(node)
        {
            open.extend(ways[node].iter().map(|way| match ways.get(*way) {
                Some(_) => Target::Node(*way),
                None => Target::End,
            }));
        }
    }
    false
}
