//! The events of a run on their way to whoever reads them.
//!
//! A run goes on only when what it said was taken, so a reader that stops stops the run.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::GraphEvent;

/// What the stream of a run tells beside its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamMode {
    /// Which nodes run and which keys they change: [`GraphEvent::NodeStarted`],
    /// [`GraphEvent::NodeRetried`], [`GraphEvent::NodeFinished`], [`GraphEvent::StateUpdated`].
    Nodes,
    /// What each node adds to the state: [`GraphEvent::Update`].
    Updates,
    /// The state after each step of the run: [`GraphEvent::Values`].
    Values,
    /// What nodes say themselves by [`NodeContext::emit`](super::NodeContext::emit):
    /// [`GraphEvent::Custom`].
    Custom,
}

/// A set of modes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Modes(u8);

impl Modes {
    pub(super) fn has(self, mode: StreamMode) -> bool {
        self.0 & (1 << mode as u8) != 0
    }
}

impl FromIterator<StreamMode> for Modes {
    fn from_iter<I: IntoIterator<Item = StreamMode>>(modes: I) -> Self {
        let bits = modes.into_iter().map(|mode| 1 << mode as u8);
        Self(bits.fold(0, |all, bit: u8| all | bit))
    }
}

#[derive(Default)]
pub(super) struct Events {
    modes: Modes,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<GraphEvent>,
    /// Who waits until all was taken.
    waiting: Vec<Waker>,
    /// Who waits for an event, which may come from a task that a node has started.
    reader: Option<Waker>,
    /// True if nobody will take anything any more.
    is_closed: bool,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("modes", &self.modes)
            .finish_non_exhaustive()
    }
}

impl Events {
    pub(super) fn new(modes: Modes) -> Self {
        Self {
            modes,
            queue: Mutex::default(),
        }
    }

    /// True if the reader wants to be told such things.
    pub(super) fn tells(&self, mode: StreamMode) -> bool {
        self.modes.has(mode)
    }

    /// True if the reader wants to be told nothing but the end.
    pub(super) fn is_silent(&self) -> bool {
        self.modes.0 == 0
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something, and waits until it was taken.
    pub(super) fn emit(&self, event: GraphEvent) -> impl Future<Output = ()> + '_ {
        // At once, so that whoever speaks does not carry the event along while it waits.
        let reader = {
            let mut queue = self.queue();
            if !queue.is_closed {
                queue.events.push_back(event);
            }
            queue.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
        std::future::poll_fn(|context| {
            let mut queue = self.queue();
            if queue.events.is_empty() {
                return Poll::Ready(());
            }
            let waker = context.waker();
            if !queue.waiting.iter().any(|known| known.will_wake(waker)) {
                queue.waiting.push(waker.clone());
            }
            Poll::Pending
        })
    }

    /// Takes the next event; `None` if there is none, and then the run can go on.
    pub(super) fn take(&self) -> Option<GraphEvent> {
        let mut queue = self.queue();
        // Whoever asks looks again before it waits.
        queue.reader = None;
        let event = queue.events.pop_front();
        self.let_go_on(queue);
        event
    }

    /// As [`take`](Self::take), and whoever asks is woken once there is one.
    pub(super) fn take_or_wait(&self, context: &Context<'_>) -> Option<GraphEvent> {
        let mut queue = self.queue();
        let event = queue.events.pop_front();
        if event.is_none() {
            queue.reader = Some(context.waker().clone());
        }
        self.let_go_on(queue);
        event
    }

    /// What is said from here on is dropped.
    pub(super) fn close(&self) {
        let mut queue = self.queue();
        queue.is_closed = true;
        self.let_go_on(queue);
    }

    /// As [`close`](Self::close), and what waits to be taken is dropped too.
    pub(super) fn abandon(&self) {
        let mut queue = self.queue();
        queue.is_closed = true;
        queue.events.clear();
        self.let_go_on(queue);
    }

    fn let_go_on(&self, mut queue: MutexGuard<'_, Queue>) {
        if queue.events.is_empty() {
            let waiting = std::mem::take(&mut queue.waiting);
            drop(queue);
            waiting.into_iter().for_each(Waker::wake);
        }
    }
}
