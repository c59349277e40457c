//! What one run is given, and the stream of its events.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::checkpoint::{CheckpointId, CheckpointSaver, Durability, Opened};
use super::events::{Events, Modes};
use super::runner::drive;
use super::{
    Answer, CompiledGraph, Extensions, NodeInterrupt, RunError, State, StateUpdate, StreamMode,
};
use crate::boxed::BoxFuture;
use crate::state::delta::StateDelta;

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
    pub(super) modes: Modes,
    pub(super) cancellation: CancellationToken,
    pub(super) drain: CancellationToken,
    pub(super) extensions: Arc<Extensions>,
    pub(super) thread: Option<Arc<str>>,
    pub(super) saver: Option<Arc<dyn CheckpointSaver>>,
    pub(super) durability: Durability,
    /// The checkpoint to begin at, if not the thread's head.
    pub(super) at: Option<CheckpointId>,
    /// What a resumed run is told.
    pub(super) answers: Option<Vec<Answer>>,
    /// The run's thread, if it was opened before.
    pub(super) opened: Option<Opened>,
    /// What was done to the state before the run.
    pub(super) began: StateDelta,
}

impl GraphRun {
    pub(super) fn new(graph: CompiledGraph, update: StateUpdate) -> Self {
        Self {
            graph,
            update,
            state: State::new(),
            step_limit: 100,
            modes: [StreamMode::Nodes, StreamMode::Custom]
                .into_iter()
                .collect(),
            cancellation: CancellationToken::new(),
            drain: CancellationToken::new(),
            extensions: Arc::default(),
            thread: None,
            saver: None,
            durability: Durability::default(),
            at: None,
            answers: None,
            opened: None,
            began: StateDelta::default(),
        }
    }

    /// The thread the run belongs to: it begins with the state that the thread's last run left,
    /// and writes down what it does. Nobody else runs on the thread meanwhile.
    pub fn thread(mut self, id: impl Into<Arc<str>>) -> Self {
        self.thread = Some(id.into());
        self
    }

    /// Where the thread is kept. Default: the graph's [saver](CompiledGraph::saver).
    pub fn saver(mut self, saver: impl CheckpointSaver) -> Self {
        self.saver = Some(Arc::new(saver));
        self
    }

    /// When the run writes to its thread. Default: [`Durability::EachWrite`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Begins at an earlier checkpoint of the thread, which gets another branch there. What is
    /// stored stays; what was done since then is done again, outside effects too.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.at = Some(checkpoint);
        self
    }

    /// A token that pauses the run before its next node: what runs goes on to its end, branches to
    /// where they meet. A run of a thread can be resumed then. Default: nobody stops it.
    pub fn drain_token(mut self, token: CancellationToken) -> Self {
        self.drain = token;
        self
    }

    /// The run's thread, opened before.
    pub(crate) fn opened(mut self, opened: Opened) -> Self {
        self.opened = Some(opened);
        self
    }

    /// What was done to the state it begins with, to be written down.
    pub(crate) fn began(mut self, began: StateDelta) -> Self {
        self.began = began;
        self
    }

    /// Goes on where the opened thread stands.
    pub(crate) fn resuming(self, answers: Vec<Answer>) -> Self {
        self.answered(answers)
    }

    pub(super) fn answered(mut self, answers: Vec<Answer>) -> Self {
        self.answers = Some(answers);
        self
    }

    /// The state to begin with; the update of the run is joined into it. A thread that is there
    /// has its own. Default: empty.
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

    /// What the [stream](Self::stream) tells beside the end of the run. Default: nodes and what
    /// they say themselves.
    ///
    /// ```
    /// use agent_core::graph::{END, GraphEvent, START, State, StateGraph, StateUpdate, StreamMode};
    /// use agent_core::graph::{NodeContext, StateError};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = StateGraph::new()
    ///     .node("count", async |_: State, context: NodeContext| {
    ///         context.emit("half of it").await;
    ///         Ok::<_, StateError>(StateUpdate::new().put("count", json!(2)))
    ///     })
    ///     .edge(START, "count")
    ///     .edge("count", END)
    ///     .compile()?;
    ///
    /// let modes = [StreamMode::Updates, StreamMode::Custom];
    /// let mut run = graph.run(()).stream_modes(modes).stream();
    /// while let Some(event) = run.next().await {
    ///     match event? {
    ///         GraphEvent::Custom { value, .. } => assert_eq!(value, "half of it"),
    ///         GraphEvent::Update { node, update } => {
    ///             assert_eq!(&*node, "count");
    ///             assert_eq!(update.keys(), ["count"]);
    ///         }
    ///         GraphEvent::Finished(state) => assert_eq!(state.value("count"), Some(&json!(2))),
    ///         _ => unreachable!("nothing else was asked for"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream_modes(mut self, modes: impl IntoIterator<Item = StreamMode>) -> Self {
        self.modes = modes.into_iter().collect();
        self
    }

    /// Runs the graph as a stream of events. Nothing happens unless it is polled, and a node runs
    /// on only when what was told before was taken, so nothing piles up.
    ///
    /// The last item is [`GraphEvent::Finished`], [`GraphEvent::Interrupted`] or an error.
    pub fn stream(self) -> GraphStream {
        let events = Arc::new(Events::new(self.modes));
        GraphStream {
            run: Some(Box::pin(drive(Box::new(self), Arc::clone(&events)))),
            events,
            end: None,
        }
    }
}

/// Runs the graph to its end and gives the last state: a stream that tells nothing else.
impl IntoFuture for GraphRun {
    type Output = Result<State, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut events = self.stream_modes([]).stream();
            let mut last = State::new();
            while let Some(event) = events.next().await {
                match event? {
                    GraphEvent::Finished(state) => last = state,
                    GraphEvent::Interrupted { interrupts, state } => {
                        return Err(RunError::Interrupted { interrupts, state });
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
/// A step is `NodeStarted`, `NodeFinished` and, if the node changed anything, `StateUpdated`; in a
/// run of a thread it is written down before `StateUpdated` tells of it. Steps of branches come
/// among each other, and once more `StateUpdated` where they meet. A [mode](StreamMode) says which
/// of these are told.
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
    /// A node has failed and runs again after this delay; what it said does not count.
    NodeRetried {
        /// The name of the node.
        node: Arc<str>,
        /// The number of the step.
        step: u64,
        /// Which try comes next, from 2.
        attempt: u32,
        /// How long it is waited for.
        delay: Duration,
        /// Why the last one failed, with its causes.
        error: Arc<str>,
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
        keys: Vec<Arc<str>>,
    },
    /// What a node, or the input of the run, added: each update once, those of branches and of
    /// graphs inside as their nodes end, not where they meet.
    Update {
        /// The name of the node; [`START`](super::START) for the input.
        node: Arc<str>,
        /// The update, as the node gave it.
        update: StateUpdate,
    },
    /// The state after the input and after each step. Branches count as one step, told where they
    /// meet, and so does a graph in the place of a node.
    ///
    /// Holding it makes the next step copy what it changes.
    Values(State),
    /// What a node said by [`NodeContext::emit`](super::NodeContext::emit).
    Custom {
        /// The name of the node.
        node: Arc<str>,
        /// What it said.
        value: Value,
    },
    /// The run is paused. Nothing follows.
    Interrupted {
        /// Who waits, and for what.
        interrupts: Vec<NodeInterrupt>,
        /// The state with the updates of the nodes that paused.
        state: State,
    },
    /// The run reached [`END`](super::END). Nothing follows.
    Finished(State),
}

/// The events of one run; see [`GraphRun::stream`].
#[must_use = "a stream does nothing unless it is polled"]
pub struct GraphStream {
    run: Option<BoxFuture<'static, Result<GraphEvent, RunError>>>,
    events: Arc<Events>,
    end: Option<Result<GraphEvent, RunError>>,
}

impl GraphStream {
    /// The next event; `None` after the last. Safe to drop and call again.
    pub async fn next(&mut self) -> Option<Result<GraphEvent, RunError>> {
        StreamExt::next(self).await
    }
}

impl Stream for GraphStream {
    type Item = Result<GraphEvent, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.events.take() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(run) = &mut this.run else {
                return Poll::Ready(this.end.take());
            };
            match run.as_mut().poll(context) {
                Poll::Ready(end) => {
                    this.run = None;
                    this.end = Some(end);
                    // Nobody who is left behind speaks after the last event.
                    this.events.close();
                }
                Poll::Pending => {
                    // It may have spoken while it was polled.
                    return match this.events.take_or_wait(context) {
                        Some(event) => Poll::Ready(Some(Ok(event))),
                        None => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl Drop for GraphStream {
    fn drop(&mut self) {
        // A task that a node has started may still speak.
        self.events.abandon();
    }
}

impl fmt::Debug for GraphStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphStream").finish_non_exhaustive()
    }
}
