//! Why a graph cannot be compiled.

use std::fmt;

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
    /// Branches never meet, not even at [`END`](super::END).
    #[error("branches from `{from}` to {} never meet", list(.targets))]
    NoJoin { from: String, targets: Vec<String> },
    /// A branch leads back to where it parted from the others, without meeting them.
    #[error("the branch from `{from}` to `{to}` leads back to `{from}`")]
    BranchLeadsBack { from: String, to: String },
    /// No way leads from the branches of a list to where they are said to meet.
    #[error("branches from `{from}` to `{to}` cannot reach `{join}`, where they are to meet")]
    UnreachableJoin {
        from: String,
        to: String,
        join: String,
    },
    /// How to fan out was said of a node that has one way on.
    #[error("`{from}` has no branches to say how they run")]
    NoBranches { from: String },
    /// A pause was asked for before or behind a node that was never added.
    #[error("pause at `{node}`, which is no node")]
    UnknownBreakpoint { node: String },
    /// A time, or how it is tried again, was said of a node that was never added.
    #[error("a timeout or retry of `{node}`, which is no node")]
    UnknownPolicy { node: String },
    /// How it is tried again was said of a graph that stands in the place of a node.
    #[error("`{node}` is a graph and not tried again as a whole; its own nodes may be")]
    RetriedGraph { node: String },
    /// A graph inside this one is faulty.
    #[error("in the graph of node `{node}`: {fault}")]
    Inside { node: String, fault: Box<Self> },
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

/// Names in backticks.
pub(super) fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
