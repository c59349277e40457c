//! What one run is given, and the stream of its events.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::runner::Runner;
use super::{CompiledGraph, Extensions, NodeInterrupt, RunError, State, StateUpdate};
use crate::boxed::{BoxFuture, BoxStream};

/// A run that has not begun: await it for the last state, or [stream](GraphRun::stream) its
/// events.
///
/// Dropping the future or the stream stops the run and drops the node that is running.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct GraphRun {
    pub(super) graph: CompiledGraph,
    pub(super) update: StateUpdate,
    pub(super) state: State,
    pub(super) step_limit: u64,
    pub(super) cancellation: CancellationToken,
    pub(super) extensions: Arc<Extensions>,
}

impl GraphRun {
    pub(super) fn new(graph: CompiledGraph, update: StateUpdate) -> Self {
        Self {
            graph,
            update,
            state: State::new(),
            step_limit: 100,
            cancellation: CancellationToken::new(),
            extensions: Arc::default(),
        }
    }

    /// The state to begin with; the update of the run is joined into it. Default: empty.
    pub fn state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// How many nodes may run, each time counted. Default: 100.
    pub fn step_limit(mut self, limit: u64) -> Self {
        self.step_limit = limit;
        self
    }

    /// A token that stops the run: the node that is running is dropped, unless it
    /// [finishes on its own](super::NodeAction::finishes_on_cancel), and the run fails with
    /// [`RunError::Cancelled`]. Default: nobody cancels.
    pub fn cancel_token(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// A value for the nodes, found by its type in
    /// [`NodeContext::extensions`](super::NodeContext::extensions).
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        Arc::make_mut(&mut self.extensions).insert(value);
        self
    }

    /// Runs the graph as a stream of events. Nothing happens unless it is polled.
    ///
    /// The last item is [`GraphEvent::Finished`], [`GraphEvent::Interrupted`] or an error.
    pub fn stream(self) -> GraphStream {
        let events = futures_util::stream::unfold(Runner::new(self), |mut runner| async {
            let event = runner.next_event().await?;
            Some((event, runner))
        });
        GraphStream {
            events: Box::pin(events.fuse()),
        }
    }
}

/// Runs the graph to its end and gives the last state.
impl IntoFuture for GraphRun {
    type Output = Result<State, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut events = self.stream();
            let mut last = State::new();
            while let Some(event) = events.next().await {
                match event? {
                    GraphEvent::Finished(state) => last = state,
                    GraphEvent::Interrupted {
                        node,
                        interrupt,
                        state,
                    } => {
                        return Err(RunError::Interrupted {
                            node: node.to_string(),
                            interrupt: Box::new(interrupt),
                            state,
                        });
                    }
                    _ => {}
                }
            }
            Ok(last)
        })
    }
}

impl fmt::Debug for GraphRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphRun")
            .field("update", &self.update)
            .field("state", &self.state)
            .field("step_limit", &self.step_limit)
            .field("extensions", &self.extensions)
            .finish_non_exhaustive()
    }
}

/// What happens in a run, in order.
///
/// A step is `NodeStarted`, `NodeFinished` and, if the node changed anything, `StateUpdated`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum GraphEvent {
    /// A node is about to run.
    NodeStarted {
        /// The name of the node.
        node: Arc<str>,
        /// The number of the step; the first is 1.
        step: u64,
    },
    /// A node has returned; its update is not joined yet.
    NodeFinished {
        /// The name of the node.
        node: Arc<str>,
        /// The number of the step.
        step: u64,
        /// How long the node ran.
        duration: Duration,
    },
    /// The update of a node, or the input of the run, was joined into the state.
    StateUpdated {
        /// The keys that were written, `messages` among them.
        keys: Vec<String>,
    },
    /// A node paused the run. Nothing follows.
    Interrupted {
        /// The name of the node.
        node: Arc<str>,
        /// Why it paused.
        interrupt: NodeInterrupt,
        /// The state with the update of the node.
        state: State,
    },
    /// The run reached [`END`](super::END). Nothing follows.
    Finished(State),
}

/// The events of one run; see [`GraphRun::stream`].
#[must_use = "a stream does nothing unless it is polled"]
pub struct GraphStream {
    events: BoxStream<'static, Result<GraphEvent, RunError>>,
}

impl GraphStream {
    /// The next event; `None` after the last. Safe to drop and call again.
    pub async fn next(&mut self) -> Option<Result<GraphEvent, RunError>> {
        self.events.next().await
    }
}

impl Stream for GraphStream {
    type Item = Result<GraphEvent, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.as_mut().poll_next(context)
    }
}

impl fmt::Debug for GraphStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphStream").finish_non_exhaustive()
    }
}
