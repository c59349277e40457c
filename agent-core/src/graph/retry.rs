//! When a node that failed runs again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::RunError;
use crate::backoff::{Backoff, backoff_setters};

/// When a node that failed runs again: see [`StateGraph::node_retry`](super::StateGraph::node_retry).
///
/// What is tried again is a node that returned an error or took longer than its
/// [time](super::StateGraph::node_timeout); a panic is not. Each try begins with the state before
/// the node, and only the update of the one that goes well is joined. What a try did outside, it
/// did: a node that is tried again must bear that.
///
/// ```
/// use agent_core::graph::{END, NodeRetry, RunError, START, State, StateGraph, StateUpdate};
/// use std::time::Duration;
///
/// let graph = StateGraph::new()
///     .node("fetch", async |_: State| Ok::<_, std::io::Error>(StateUpdate::new()))
///     .node_timeout("fetch", Duration::from_secs(5))
///     .node_retry("fetch", NodeRetry::new().attempts(4).when(|error| !matches!(error, RunError::TimedOut { .. })))
///     .edge(START, "fetch")
///     .edge("fetch", END)
///     .compile()?;
/// # Ok::<(), agent_core::graph::GraphError>(())
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until it is given to `StateGraph::node_retry`"]
pub struct NodeRetry {
    pub(super) backoff: Backoff,
    when: Arc<dyn Fn(&RunError) -> bool + Send + Sync>,
}

impl NodeRetry {
    /// Up to 3 attempts, with delays of 200 ms and more between them.
    pub fn new() -> Self {
        Self {
            backoff: Backoff {
                attempts: 3,
                min_delay: Duration::from_millis(200),
                max_delay: Duration::from_secs(10),
            },
            when: Arc::new(|_| true),
        }
    }

    backoff_setters!("the node runs", "200 ms", "10 s");

    /// Which failures are worth another attempt: it is asked about [`RunError::Node`] and
    /// [`RunError::TimedOut`]. Default: all of them.
    pub fn when(mut self, when: impl Fn(&RunError) -> bool + Send + Sync + 'static) -> Self {
        self.when = Arc::new(when);
        self
    }

    pub(super) fn helps(&self, error: &RunError) -> bool {
        matches!(error, RunError::Node { .. } | RunError::TimedOut { .. }) && (self.when)(error)
    }
}

impl Default for NodeRetry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for NodeRetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeRetry")
            .field("backoff", &self.backoff)
            .finish_non_exhaustive()
    }
}
