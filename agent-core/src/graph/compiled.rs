//! A graph that was checked: names are resolved, nothing can be added.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::builder::{Node, StateGraph};
use super::edge::Router;
use super::{END, GraphRun, KeyStrategies, START, StateUpdate, picture};

/// A graph that can run, any number of times and several times at once. Cloning is cheap.
#[derive(Clone)]
pub struct CompiledGraph {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) nodes: Vec<Node>,
    /// What follows [`START`].
    start: Next,
    /// What follows each node, by its position in `nodes`.
    next: Vec<Next>,
    /// Where each node may go beside that, by its position in `nodes`.
    pub(super) gotos: Vec<Vec<Target>>,
    index: HashMap<Arc<str>, usize>,
    pub(super) strategies: KeyStrategies,
}

/// Where an edge leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Node(usize),
    End,
}

/// What follows a node.
pub(super) enum Next {
    /// Only a goto of the node.
    Goto,
    Edge(Target),
    Conditional(Router, Vec<(String, Target)>),
}

impl CompiledGraph {
    /// `graph` has no faults.
    pub(super) fn new(graph: StateGraph) -> Self {
        let index: HashMap<Arc<str>, usize> = graph
            .nodes
            .iter()
            .enumerate()
            .map(|(position, node)| (Arc::clone(&node.name), position))
            .collect();
        let next_of = |name: &str| next_of(&graph, &index, name);
        let start = next_of(START);
        let next = graph.nodes.iter().map(|node| next_of(&node.name)).collect();
        let gotos = graph
            .nodes
            .iter()
            .map(|node| {
                let own = graph.gotos.iter().filter(|goto| *goto.from == *node.name);
                own.filter_map(|goto| target(&index, &goto.to)).collect()
            })
            .collect();
        let inner = Inner {
            start,
            next,
            gotos,
            index,
            nodes: graph.nodes,
            strategies: graph.strategies,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Starts a run with these changes to an empty state, or to the one given by
    /// [`GraphRun::state`]. Await it, or [stream](GraphRun::stream) its events.
    pub fn run(&self, update: impl Into<StateUpdate>) -> GraphRun {
        GraphRun::new(self.clone(), update.into())
    }

    /// The names of the nodes, in the order in which they were added.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.inner.nodes.iter().map(|node| node.name.as_ref())
    }

    /// How updates join the state.
    #[must_use]
    pub fn strategies(&self) -> &KeyStrategies {
        &self.inner.strategies
    }

    /// The graph as a Mermaid flowchart; conditional edges are dashed.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        picture::mermaid(&self.inner)
    }

    /// The graph in the DOT language of Graphviz; conditional edges are dashed.
    #[must_use]
    pub fn to_dot(&self) -> String {
        picture::dot(&self.inner)
    }
}

impl Inner {
    /// What follows a node, or [`START`] if there is none.
    pub(super) fn next(&self, node: Option<usize>) -> &Next {
        match node {
            None => &self.start,
            Some(position) => &self.next[position],
        }
    }

    /// The node of this name, or the end.
    pub(super) fn target(&self, name: &str) -> Option<Target> {
        target(&self.index, name)
    }
}

fn target(index: &HashMap<Arc<str>, usize>, name: &str) -> Option<Target> {
    if name == END {
        return Some(Target::End);
    }
    index.get(name).copied().map(Target::Node)
}

fn next_of(graph: &StateGraph, index: &HashMap<Arc<str>, usize>, name: &str) -> Next {
    let edge = graph.edges.iter().find(|edge| edge.from == name);
    if let Some(target) = edge.and_then(|edge| target(index, &edge.to)) {
        return Next::Edge(target);
    }
    match graph.conditionals.iter().find(|edges| edges.from == name) {
        None => Next::Goto,
        Some(edges) => {
            let routes = edges.routes.iter().filter_map(|route| {
                let target = target(index, route.target())?;
                Some((route.name().to_owned(), target))
            });
            Next::Conditional(edges.router.clone(), routes.collect())
        }
    }
}

impl fmt::Debug for CompiledGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledGraph")
            .field("nodes", &self.inner.nodes)
            .field("strategies", &self.inner.strategies)
            .finish_non_exhaustive()
    }
}
