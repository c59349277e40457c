//! Puts a graph together. Nothing is checked here, and nothing runs.

use std::fmt;
use std::sync::Arc;

use super::check::check;
use super::edge::Router;
use super::{
    CompiledGraph, GraphError, IntoNode, IntoRoute, KeyStrategies, KeyStrategy, NodeAction, Route,
    State,
};

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
    pub(super) strategies: KeyStrategies,
}

#[derive(Clone)]
pub(super) struct Node {
    pub(super) name: Arc<str>,
    pub(super) action: Arc<dyn NodeAction>,
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
        });
        self
    }

    /// Adds an edge: after `from` comes `to`.
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
    pub fn compile(self) -> Result<CompiledGraph, GraphError> {
        let faults = check(&self);
        if faults.is_empty() {
            Ok(CompiledGraph::new(self))
        } else {
            Err(GraphError::new(faults))
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.name).finish()
    }
}
