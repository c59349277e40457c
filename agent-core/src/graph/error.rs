//! Why a graph cannot be compiled, and why a run failed.

use std::fmt;

use super::{NodeInterrupt, State, StateError};
use crate::boxed::BoxError;

/// Why a graph cannot be compiled: every fault that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphError {
    faults: Vec<GraphFault>,
}

impl GraphError {
    pub(super) fn new(faults: Vec<GraphFault>) -> Self {
        Self { faults }
    }

    /// The faults, in the order in which the graph was put together.
    #[must_use]
    pub fn faults(&self) -> &[GraphFault] {
        &self.faults
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("graph cannot be compiled: ")?;
        for (position, fault) in self.faults.iter().enumerate() {
            let separator = if position == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for GraphError {}

/// One thing that is wrong with a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are the names the message holds")]
pub enum GraphFault {
    /// No edge leaves [`START`](super::START).
    #[error("no edge leaves START")]
    NoStart,
    /// A node has an empty name.
    #[error("node name `{node}` is blank")]
    BlankNode { node: String },
    /// A node has a name that is kept for the framework.
    #[error("node name `{node}` starts with `__`, which is reserved")]
    ReservedNode { node: String },
    /// Two nodes have one name.
    #[error("two nodes are named `{node}`")]
    DuplicateNode { node: String },
    /// A strategy was declared for a key that has its own rules.
    #[error("key `{key}` is reserved and takes no strategy")]
    ReservedKey { key: String },
    /// An edge leaves a node that was never added.
    #[error("edge from `{from}` to `{to}` leaves `{from}`, which is no node")]
    UnknownSource { from: String, to: String },
    /// An edge leads to a node that was never added.
    #[error("edge from `{from}` leads to `{to}`, which is no node")]
    UnknownTarget { from: String, to: String },
    /// An edge leaves [`END`](super::END).
    #[error("edge to `{to}` leaves END")]
    EdgeFromEnd { to: String },
    /// An edge leads to [`START`](super::START).
    #[error("edge from `{from}` leads to START")]
    EdgeToStart { from: String },
    /// One edge stands twice.
    #[error("edge from `{from}` to `{to}` stands twice")]
    DuplicateEdge { from: String, to: String },
    /// Several plain edges leave one node.
    #[error("edges from `{from}` lead to {}: parallel branches are not supported yet", list(.targets))]
    ParallelBranches { from: String, targets: Vec<String> },
    /// Conditional edges have no routes.
    #[error("conditional edges from `{from}` have no targets")]
    NoRoutes { from: String },
    /// Two routes of one router have one name.
    #[error("conditional edges from `{from}` have two routes named `{route}`")]
    DuplicateRoute { from: String, route: String },
    /// Two routers stand at one node.
    #[error("`{from}` has conditional edges twice")]
    DuplicateConditionalEdges { from: String },
    /// A node has both a plain edge and conditional edges, so that there are two ways on.
    #[error("`{from}` has both an edge to `{to}` and conditional edges")]
    MixedEdges { from: String, to: String },
    /// No way leads from [`START`](super::START) to the node.
    #[error("node `{node}` cannot be reached from START")]
    Unreachable { node: String },
    /// Nothing leaves the node, not even to [`END`](super::END).
    #[error("no edge leaves node `{node}`")]
    NoWayOut { node: String },
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Why a run did not finish. Each variant keeps the last state that is whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run would need more steps than it was given.
    #[error("the run did not end within {limit} steps")]
    StepLimit {
        /// The limit of the run.
        limit: u64,
        /// The state after the last step.
        state: State,
    },
    /// A node failed.
    #[error("node `{node}` failed")]
    Node {
        /// The name of the node.
        node: String,
        /// What the node returned.
        source: BoxError,
        /// The state before the node.
        state: State,
    },
    /// A node, or the router that ran after it, panicked.
    #[error("node `{node}` panicked")]
    Panicked {
        /// The name of the node.
        node: String,
        /// The last whole state.
        state: State,
    },
    /// The update of a node, or of the input if the node is [`START`](super::START), cannot
    /// be joined into the state.
    #[error("the update of `{node}` does not fit the state")]
    Update {
        /// The name of the node.
        node: String,
        /// Which change cannot be made.
        source: Box<StateError>,
        /// The state before the update.
        state: State,
    },
    /// A router could not choose.
    #[error("the router of `{node}` failed")]
    Router {
        /// The node whose conditional edges were to be followed.
        node: String,
        /// What the router returned.
        source: BoxError,
        /// The state the router saw.
        state: State,
    },
    /// A router chose a route that was not declared.
    #[error("the router of `{node}` chose `{route}`, which is none of its targets")]
    UnknownRoute {
        /// The node whose conditional edges were to be followed.
        node: String,
        /// What the router said.
        route: String,
        /// The state the router saw.
        state: State,
    },
    /// A node asked to go to something that is no node.
    #[error("node `{node}` goes to `{target}`, which is no node")]
    UnknownGoto {
        /// The name of the node.
        node: String,
        /// Where it wanted to go.
        target: String,
        /// The state after the node.
        state: State,
    },
    /// A node that has no edges, only declared gotos, did not say where to go.
    #[error("node `{node}` has no edges and did not say where to go")]
    NoWayOn {
        /// The name of the node.
        node: String,
        /// The state after the node.
        state: State,
    },
    /// The run was cancelled by its token.
    #[error("the run was cancelled")]
    Cancelled {
        /// The state after the last step that was completed.
        state: State,
    },
    /// A node paused a run that was awaited, so that nobody takes it for finished. The
    /// stream of a run tells of it by [`GraphEvent::Interrupted`](super::GraphEvent).
    #[error("node `{node}` paused the run")]
    Interrupted {
        /// The name of the node.
        node: String,
        /// Why it paused.
        interrupt: Box<NodeInterrupt>,
        /// The state after the node.
        state: State,
    },
}

impl RunError {
    /// The last state that is whole.
    #[must_use]
    pub fn state(&self) -> &State {
        match self {
            Self::StepLimit { state, .. }
            | Self::Node { state, .. }
            | Self::Panicked { state, .. }
            | Self::Update { state, .. }
            | Self::Router { state, .. }
            | Self::UnknownRoute { state, .. }
            | Self::UnknownGoto { state, .. }
            | Self::NoWayOn { state, .. }
            | Self::Cancelled { state }
            | Self::Interrupted { state, .. } => state,
        }
    }

    /// True if the run was stopped from outside and nothing is wrong with the graph.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled { .. })
    }
}
