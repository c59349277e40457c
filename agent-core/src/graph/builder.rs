//! Puts a graph together. Nothing is checked here, and nothing runs.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "retry")]
use super::NodeRetry;
use super::branches::Items;
use super::check::check;
use super::edge::Router;
use super::{
    CompiledGraph, FanOut, GraphError, GraphFault, IntoNode, IntoRoute, KeyStrategies, KeyStrategy,
    NodeAction, Route, State, StateUpdate,
};
use crate::boxed::BoxError;

/// A graph that is being put together from nodes and edges.
///
/// No method fails; [`StateGraph::compile`] reports all faults at once.
#[derive(Debug, Clone, Default)]
#[must_use = "a graph does nothing until it is compiled and run"]
pub struct StateGraph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    pub(super) conditionals: Vec<Conditional>,
    pub(super) gotos: Vec<Edge>,
    pub(super) each: Vec<Each>,
    pub(super) fan_outs: Vec<(String, FanOut)>,
    pub(super) pauses_before: Vec<String>,
    pub(super) pauses_after: Vec<String>,
    pub(super) timeouts: Vec<(String, Duration)>,
    #[cfg(feature = "retry")]
    pub(super) retries: Vec<(String, NodeRetry)>,
    /// Graphs that stand in the place of a node and could not be compiled.
    pub(super) faulty: Vec<(Arc<str>, GraphError)>,
    pub(super) strategies: KeyStrategies,
}

#[derive(Clone)]
pub(super) struct Node {
    pub(super) name: Arc<str>,
    pub(super) action: Arc<dyn NodeAction>,
    /// True if a run pauses before it.
    pub(super) pauses_before: bool,
    /// True if a run pauses behind it.
    pub(super) pauses_after: bool,
    /// How long it may run.
    pub(super) timeout: Option<Duration>,
    #[cfg(feature = "retry")]
    pub(super) retry: Option<NodeRetry>,
}

/// One branch for each item of a list.
#[derive(Clone)]
pub(super) struct Each {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) join: String,
    pub(super) items: Items,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
}

#[derive(Debug, Clone)]
pub(super) struct Conditional {
    pub(super) from: String,
    pub(super) router: Router,
    pub(super) routes: Vec<Route>,
}

impl StateGraph {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares how updates of a key join its value. Default: the new value replaces the old.
    pub fn key(mut self, key: impl Into<Arc<str>>, strategy: KeyStrategy) -> Self {
        self.strategies = self.strategies.with(key, strategy);
        self
    }

    /// Adds a node. Its name is not blank and does not start with `__`.
    ///
    /// The action is an async closure over the [`State`], with a
    /// [`NodeContext`](super::NodeContext) as second argument if it needs that, or a
    /// [`NodeAction`], by value or shared.
    pub fn node<M>(mut self, name: impl Into<Arc<str>>, action: impl IntoNode<M>) -> Self {
        self.nodes.push(Node {
            name: name.into(),
            action: action.into_node(),
            pauses_before: false,
            pauses_after: false,
            timeout: None,
            #[cfg(feature = "retry")]
            retry: None,
        });
        self
    }

    /// Adds a graph that stands in the place of a node. It works on the state of the run and adds
    /// to it what its nodes add; its own key strategies hold for keys this graph does not declare.
    /// Its faults are told among those of this graph; in events its nodes are `name-inner`.
    ///
    /// A graph that is [compiled](CompiledGraph) already can be given to [`node`](Self::node).
    pub fn sub_graph(mut self, name: impl Into<Arc<str>>, graph: Self) -> Self {
        let name = name.into();
        match graph.compile() {
            Ok(graph) => self.node(name, graph),
            Err(error) => {
                self.faulty.push((Arc::clone(&name), error));
                // Stands in, so that edges to it are no faults of their own.
                self.node(name, async |_: State| Ok::<_, BoxError>(()))
            }
        }
    }

    /// Adds an edge: after `from` comes `to`. Several from one node are branches that run side by
    /// side, on states of their own, up to the nearest node that every way from each of them
    /// passes, or the end. There their updates are joined in the order of these edges. A key that
    /// several branches write needs a declared strategy.
    pub fn edge(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.edges.push(Edge {
            from: from.into(),
            to: to.into(),
        });
        self
    }

    /// Adds conditional edges: after `from`, the router looks at the state and names one of
    /// the routes. A route is a target, or a pair of a name and a target.
    pub fn conditional_edges<R: IntoRoute>(
        mut self,
        from: impl Into<String>,
        router: impl Fn(&State) -> R + Send + Sync + 'static,
        routes: impl IntoIterator<Item = impl Into<Route>>,
    ) -> Self {
        self.conditionals.push(Conditional {
            from: from.into(),
            router: Router::new(router),
            routes: routes.into_iter().map(Into::into).collect(),
        });
        self
    }

    /// As [`conditional_edges`](Self::conditional_edges), with a router that gives the position of
    /// the one target it chooses.
    pub(crate) fn conditional_edges_by_position(
        mut self,
        from: &str,
        router: impl Fn(&State) -> usize + Send + Sync + 'static,
        routes: impl IntoIterator<Item = impl Into<Route>>,
    ) -> Self {
        self.conditionals.push(Conditional {
            from: from.to_owned(),
            router: Router::ByPosition(Arc::new(router)),
            routes: routes.into_iter().map(Into::into).collect(),
        });
        self
    }

    /// Adds a fan-out over a list: after `from`, a branch begins at `to` for each update that
    /// `items` makes of the state, and they meet at `join`. What a branch is told by its update it
    /// alone sees; only what its nodes write is joined. Without any item the run goes on at `join`.
    pub fn for_each<E: Into<BoxError>>(
        mut self,
        from: impl Into<String>,
        to: impl Into<String>,
        join: impl Into<String>,
        items: impl Fn(&State) -> Result<Vec<StateUpdate>, E> + Send + Sync + 'static,
    ) -> Self {
        self.each.push(Each {
            from: from.into(),
            to: to.into(),
            join: join.into(),
            items: Arc::new(move |state| items(state).map_err(Into::into)),
        });
        self
    }

    /// Says how the branches behind a node run; of two for one node the later stands. Default:
    /// [`FanOut::all`].
    pub fn fan_out(mut self, from: impl Into<String>, how: FanOut) -> Self {
        let from = from.into();
        self.fan_outs.retain(|(other, _)| *other != from);
        self.fan_outs.push((from, how));
        self
    }

    /// Pauses each run before it comes to this node. A [resume](CompiledGraph::resume) goes on,
    /// without an answer.
    pub fn interrupt_before(mut self, node: impl Into<String>) -> Self {
        self.pauses_before.push(node.into());
        self
    }

    /// Pauses each run behind this node, once what it did is written down. The way on is found
    /// before the pause; an [edit](CompiledGraph::update_state) of the state that is made as this
    /// node finds it anew. A [resume](CompiledGraph::resume) goes on, without an answer.
    pub fn interrupt_after(mut self, node: impl Into<String>) -> Self {
        self.pauses_after.push(node.into());
        self
    }

    /// How long a node may run, each time; of two for one node the later stands. Then it is
    /// dropped, and the run fails with [`RunError::TimedOut`](super::RunError::TimedOut). For a
    /// graph in the place of a node it is the time of all its steps. Default: any time.
    pub fn node_timeout(mut self, node: impl Into<String>, limit: Duration) -> Self {
        self.timeouts.push((node.into(), limit));
        self
    }

    /// Lets a node that failed, or took too long, run again; of two for one node the later stands.
    /// Default: the run fails. Not for a graph in the place of a node, whose nodes have their own.
    #[cfg(feature = "retry")]
    pub fn node_retry(mut self, node: impl Into<String>, retry: NodeRetry) -> Self {
        self.retries.push((node.into(), retry));
        self
    }

    /// Declares where a node may go by [`NodeOutput::goto`](super::NodeOutput::goto), so that
    /// the checks and the picture of the graph know of it. A node may go elsewhere as well.
    pub fn gotos(
        mut self,
        from: impl Into<String>,
        targets: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let from = from.into();
        self.gotos.extend(targets.into_iter().map(|to| Edge {
            from: from.clone(),
            to: to.into(),
        }));
        self
    }

    /// Checks the whole graph and makes it runnable.
    ///
    /// # Errors
    ///
    /// [`GraphError`] lists every fault, each naming its node and edge.
    pub fn compile(mut self) -> Result<CompiledGraph, GraphError> {
        let mut faults = check(&self);
        for (node, error) in std::mem::take(&mut self.faulty) {
            faults.extend(error.faults().iter().map(|fault| GraphFault::Inside {
                node: node.to_string(),
                fault: Box::new(fault.clone()),
            }));
        }
        let before: HashSet<&str> = self.pauses_before.iter().map(String::as_str).collect();
        let after: HashSet<&str> = self.pauses_after.iter().map(String::as_str).collect();
        let timeouts = last_of(&self.timeouts);
        #[cfg(feature = "retry")]
        let retries = last_of(&self.retries);
        for node in &mut self.nodes {
            node.pauses_before = before.contains(&*node.name);
            node.pauses_after = after.contains(&*node.name);
            node.timeout = timeouts.get(&*node.name).copied().copied();
            #[cfg(feature = "retry")]
            {
                node.retry = retries.get(&*node.name).copied().cloned();
            }
        }
        if faults.is_empty() {
            Ok(CompiledGraph::new(self))
        } else {
            Err(GraphError::new(faults))
        }
    }
}

/// What is set for each node: of two settings the later.
fn last_of<T>(settings: &[(String, T)]) -> HashMap<&str, &T> {
    let settings = settings.iter();
    settings
        .map(|(name, value)| (name.as_str(), value))
        .collect()
}

/// Where the plain edges of each node, or the start, lead, in their order.
pub(super) type EdgesBySource<'a> = HashMap<&'a str, Vec<&'a str>>;

impl StateGraph {
    pub(super) fn edges_by_source(&self) -> EdgesBySource<'_> {
        let mut edges = EdgesBySource::new();
        for edge in &self.edges {
            edges.entry(&edge.from).or_default().push(&edge.to);
        }
        edges
    }

    /// Every way from a node, or the start, to another, or the end.
    pub(super) fn ways(&self) -> impl Iterator<Item = (&str, &str)> {
        let edges = self.edges.iter().chain(&self.gotos);
        let edges = edges.map(|edge| (edge.from.as_str(), edge.to.as_str()));
        let each = self.each.iter().flat_map(|each| {
            let from = each.from.as_str();
            [(from, each.to.as_str()), (from, each.join.as_str())]
        });
        let routes = self.conditionals.iter().flat_map(|edges| {
            let from = edges.from.as_str();
            edges.routes.iter().map(move |route| (from, route.target()))
        });
        edges.chain(each).chain(routes)
    }
}

impl fmt::Debug for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Each")
            .field("from", &self.from)
            .field("to", &self.to)
            .field("join", &self.join)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.name).finish()
    }
}
