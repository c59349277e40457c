//! A graph that was checked: names are resolved, nothing can be added.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::branches::{FanOut, Items};
use super::builder::{self, Conditional, EdgesBySource, Node, StateGraph};
#[cfg(doc)]
use super::checkpoint::CheckpointError;
use super::checkpoint::CheckpointSaver;
use super::edge::Router;
use super::join::Joins;
use super::{Answer, END, GraphRun, KeyStrategies, START, StateUpdate, picture};

/// A graph that can run, any number of times and several times at once. Cloning is cheap.
#[derive(Clone)]
pub struct CompiledGraph {
    pub(super) inner: Arc<Inner>,
    pub(super) saver: Option<Arc<dyn CheckpointSaver>>,
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
    /// Where ways from several nodes meet.
    pub(super) joins: Joins,
    /// How branches run, by the node behind which they part.
    fan_outs: HashMap<Option<usize>, FanOut>,
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
    /// Branches, and where they meet.
    Branches(Vec<Target>, Target),
    /// One branch for each item of a list.
    Each(Each),
    Conditional(Router, Vec<(String, Target)>),
}

/// One branch for each item of a list.
pub(super) struct Each {
    pub(super) items: Items,
    pub(super) to: Target,
    pub(super) join: Target,
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
        let joins = Joins::of(&ways(&graph, &index));
        let edges = graph.edges_by_source();
        let each = graph.each.iter().map(|each| (each.from.as_str(), each));
        let each: HashMap<&str, &builder::Each> = each.collect();
        let routed = graph.conditionals.iter();
        let routed = routed.map(|edges| (edges.from.as_str(), edges)).collect();
        let next_of = |name: &str| next_of((&edges, &each, &routed), (&index, &joins), name);
        let start = next_of(START);
        let next = graph.nodes.iter().map(|node| next_of(&node.name)).collect();
        let mut gotos = vec![Vec::new(); graph.nodes.len()];
        for goto in &graph.gotos {
            if let (Some(from), Some(to)) = (index.get(&*goto.from), target(&index, &goto.to)) {
                gotos[*from].push(to);
            }
        }
        let fan_outs = graph.fan_outs.iter().filter_map(|(from, fan_out)| {
            let from = match from.as_str() {
                START => None,
                from => Some(*index.get(from)?),
            };
            Some((from, fan_out.clone()))
        });
        let inner = Inner {
            start,
            next,
            gotos,
            fan_outs: fan_outs.collect(),
            index,
            nodes: graph.nodes,
            strategies: graph.strategies,
            joins,
        };
        Self {
            inner: Arc::new(inner),
            saver: None,
        }
    }

    /// The same graph, with this saver for runs that belong to a thread and have none of their
    /// own. Inside of another graph it is not asked: that of the run is.
    #[must_use]
    pub fn saver(mut self, saver: impl CheckpointSaver) -> Self {
        self.saver = Some(Arc::new(saver));
        self
    }

    /// Goes on with a run of a thread that paused, failed, or was cut off, where it was. The
    /// answers are those to its interrupts: some or all, each counts once; a run that waits for
    /// none needs none.
    ///
    /// What was done is not done again: a node that paused runs again and finds its answers in
    /// its [context](super::NodeContext::answer), the others do not.
    ///
    /// An answer has counted once the step that read it is written down. Where the step failed, a
    /// resume without answers runs it again with the same one, and another answer to the same
    /// interrupt takes its place. So it is with an answer that the node cannot read: the run fails
    /// with [`CheckpointError::InvalidAnswer`], and the question is open for another.
    pub fn resume(
        &self,
        thread: impl Into<Arc<str>>,
        answers: impl IntoIterator<Item = Answer>,
    ) -> GraphRun {
        let run = GraphRun::new(self.clone(), StateUpdate::new());
        run.thread(thread).answered(answers.into_iter().collect())
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

    pub(super) fn target_name(&self, target: Target) -> &str {
        match target {
            Target::End => END,
            Target::Node(node) => &self.nodes[node].name,
        }
    }

    /// The position of the node of this name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// How branches behind a node, or the start, run.
    pub(super) fn fan_out(&self, from: Option<usize>) -> FanOut {
        self.fan_outs.get(&from).cloned().unwrap_or_default()
    }
}

fn target(index: &HashMap<Arc<str>, usize>, name: &str) -> Option<Target> {
    if name == END {
        return Some(Target::End);
    }
    index.get(name).copied().map(Target::Node)
}

/// Where each node leads; the number of nodes stands for the end.
pub(super) fn ways(graph: &StateGraph, index: &HashMap<Arc<str>, usize>) -> Vec<Vec<usize>> {
    let end = graph.nodes.len();
    let number = |name: &str| match target(index, name) {
        Some(Target::Node(node)) => Some(node),
        Some(Target::End) => Some(end),
        None => None,
    };
    let mut ways: Vec<Vec<usize>> = vec![Vec::new(); end];
    for (from, to) in graph.ways() {
        if let (Some(from), Some(to)) = (index.get(from), number(to)) {
            ways[*from].push(to);
        }
    }
    ways
}

/// The ways on by the node, or the start, from which they lead.
type BySource<'a> = (
    &'a EdgesBySource<'a>,
    &'a HashMap<&'a str, &'a builder::Each>,
    &'a HashMap<&'a str, &'a Conditional>,
);

fn next_of(
    (edges, each, routed): BySource<'_>,
    (index, joins): (&HashMap<Arc<str>, usize>, &Joins),
    name: &str,
) -> Next {
    let targets = edges.get(name).into_iter().flatten();
    let targets: Vec<Target> = targets.filter_map(|to| target(index, to)).collect();
    match targets.as_slice() {
        [] => {}
        [target] => return Next::Edge(*target),
        targets => {
            // The checks have seen that there is one.
            let join = joins.nearest(targets).unwrap_or(Target::End);
            return Next::Branches(targets.to_vec(), join);
        }
    }
    if let Some(each) = each.get(name)
        && let (Some(to), Some(join)) = (target(index, &each.to), target(index, &each.join))
    {
        let items = Arc::clone(&each.items);
        return Next::Each(Each { items, to, join });
    }
    match routed.get(name) {
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
