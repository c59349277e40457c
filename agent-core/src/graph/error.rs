//! Why a run failed.

use std::time::Duration;

use super::checkpoint::CheckpointError;
use super::fault::list;
use super::{NodeInterrupt, State, StateError};
use crate::boxed::BoxError;
#[cfg(feature = "retry")]
use crate::boxed::told;

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
    /// A node took longer than [it may](super::StateGraph::node_timeout), and was dropped.
    #[error("node `{node}` took longer than {limit:?}")]
    TimedOut {
        /// The name of the node.
        node: String,
        /// The time it had.
        limit: Duration,
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
    /// A state was to be edited as a node that the graph does not have.
    #[error("the graph has no node `{node}`")]
    NoSuchNode {
        /// The name.
        node: String,
        /// The state as it is.
        state: State,
    },
    /// The run was cancelled by its token.
    #[error("the run was cancelled")]
    Cancelled {
        /// The state after the last step that was completed.
        state: State,
    },
    /// Nodes paused a run that was awaited, so that nobody takes it for finished. The
    /// stream of a run tells of it by [`GraphEvent::Interrupted`](super::GraphEvent).
    #[error("the run is paused: {} waits", place(.interrupts))]
    Interrupted {
        /// Who waits, and for what.
        interrupts: Vec<NodeInterrupt>,
        /// The state at the pause.
        state: State,
    },
    /// Two branches wrote a key that has no declared strategy, so that one would be lost.
    #[error("branches `{}` and `{}` both write key `{key}`, which has no declared strategy", .branches[0], .branches[1])]
    KeyConflict {
        /// The key.
        key: String,
        /// The first nodes of the branches.
        branches: Box<[String; 2]>,
        /// The state before the branches.
        state: State,
    },
    /// Of branches that race, none succeeded.
    #[error("all branches of `{from}` failed")]
    AllBranchesFailed {
        /// The node behind which they parted.
        from: String,
        /// The error of the first of them.
        #[source]
        first: Box<Self>,
        /// The errors of the others.
        others: Vec<Self>,
        /// The state before the branches.
        state: State,
    },
    /// Branches and sub-graphs stand deeper inside each other than is allowed.
    #[error("branches and graphs stand more than {limit} deep inside each other")]
    TooDeep {
        /// The limit.
        limit: usize,
        /// The state where they began.
        state: State,
    },
    /// The run's thread cannot be read, written or resumed.
    #[error("the thread of the run cannot be used")]
    Checkpoint {
        /// What is wrong with it.
        source: Box<CheckpointError>,
        /// The last state that is whole.
        state: State,
    },
}

fn place(interrupts: &[NodeInterrupt]) -> String {
    let places = interrupts.iter().map(|interrupt| interrupt.node.clone());
    list(&places.collect::<Vec<_>>())
}

/// The state in an error, as that is borrowed; every kind has one.
macro_rules! state_in {
    ($error:expr) => {
        match $error {
            Self::StepLimit { state, .. }
            | Self::Node { state, .. }
            | Self::Panicked { state, .. }
            | Self::TimedOut { state, .. }
            | Self::NoSuchNode { state, .. }
            | Self::Update { state, .. }
            | Self::Router { state, .. }
            | Self::UnknownRoute { state, .. }
            | Self::UnknownGoto { state, .. }
            | Self::NoWayOn { state, .. }
            | Self::Cancelled { state }
            | Self::KeyConflict { state, .. }
            | Self::AllBranchesFailed { state, .. }
            | Self::TooDeep { state, .. }
            | Self::Checkpoint { state, .. }
            | Self::Interrupted { state, .. } => state,
        }
    };
}

impl RunError {
    /// The last state that is whole.
    #[must_use]
    pub fn state(&self) -> &State {
        state_in!(self)
    }

    /// The same error with the state of the line around the one that failed.
    pub(super) fn with_state(mut self, whole: State) -> Self {
        *state_in!(&mut self) = whole;
        self
    }

    pub(super) fn checkpoint(source: CheckpointError, state: State) -> Self {
        Self::Checkpoint {
            source: Box::new(source),
            state,
        }
    }

    /// What went wrong, with its causes, without the name of the node.
    #[cfg(feature = "retry")]
    pub(super) fn cause(&self) -> String {
        match self {
            Self::Node { source, .. } => told(&**source),
            other => told(other),
        }
    }

    /// True if the run was stopped from outside and nothing is wrong with the graph.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled { .. })
    }
}
