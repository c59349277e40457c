//! A bounded way from the parts of a run to its reader.
//!
//! A slow reader slows the run: when the channel is full, whoever speaks waits. A reader
//! that is gone drops the run itself, so nobody waits for it. What a run inside a tool call
//! says reaches the reader of the outer run too. Where nobody reads, as of a run that is
//! awaited, nothing is said at all.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{Either, Ready, ready};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};

use super::EventKind;
use crate::boxed::BoxFuture;

/// How many events may wait for the reader.
const CAPACITY: usize = 64;

/// What an agent says.
#[derive(Clone)]
pub(crate) struct Said {
    pub(crate) agent: Arc<str>,
    /// True if it speaks in a call of the run that is read.
    pub(crate) is_nested: bool,
    pub(crate) kind: EventKind,
}

impl Said {
    pub(crate) fn new(agent: &Arc<str>, kind: EventKind) -> Self {
        Self {
            agent: Arc::clone(agent),
            is_nested: false,
            kind,
        }
    }

    /// The same, for the reader of the run around the one that says it.
    fn outwards(&self) -> Self {
        Self {
            is_nested: true,
            ..self.clone()
        }
    }
}

/// Where the parts of a run put their events.
#[derive(Clone)]
pub(crate) struct Sink {
    agent: Arc<str>,
    /// `None` if nobody reads this run by itself.
    sender: Option<mpsc::Sender<Said>>,
    /// The call of another run in which this one goes on, if somebody reads that.
    outer: Option<Arc<Gate>>,
}

/// A sink for the events of `agent`, and the end it leads to.
pub(crate) fn channel(agent: Arc<str>, outer: Option<Arc<Gate>>) -> (Sink, mpsc::Receiver<Said>) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    let sink = Sink {
        sender: Some(sender),
        ..Sink::unread(agent, outer)
    };
    (sink, receiver)
}

impl Sink {
    /// A sink that leads to the reader of the outer run, if there is one, and nowhere else.
    pub(crate) fn unread(agent: Arc<str>, outer: Option<Arc<Gate>>) -> Self {
        Self {
            agent,
            sender: None,
            outer: outer.filter(|gate| gate.sink.is_read()),
        }
    }

    /// True if there is somebody to say something to.
    pub(crate) fn is_read(&self) -> bool {
        self.sender.is_some() || self.outer.is_some()
    }

    /// Hands one event on: at once if there is room, so that whoever speaks does not carry the
    /// event along; else what is returned waits for room. Not even made if nobody reads.
    pub(crate) fn send(
        &self,
        kind: impl FnOnce() -> EventKind,
    ) -> Either<Ready<()>, BoxFuture<'_, ()>> {
        if !self.is_read() {
            return Either::Left(ready(()));
        }
        let said = Said::new(&self.agent, kind());
        let said = match (&self.outer, &self.sender) {
            (None, Some(sender)) => match sender.try_send(said) {
                Err(TrySendError::Full(said)) => said,
                // The receiver lives in the same stream as the run: it is only gone with it.
                Ok(()) | Err(TrySendError::Closed(_)) => return Either::Left(ready(())),
            },
            _ => said,
        };
        Either::Right(Box::pin(self.pass(said)))
    }

    async fn pass(&self, said: Said) {
        if let Some(outer) = &self.outer {
            Box::pin(outer.pass(said.outwards())).await;
        }
        if let Some(sender) = &self.sender {
            let _ = sender.send(said).await;
        }
    }

    /// Hands one event on at once, or gives it back if there is no room.
    fn try_send(&self, kind: EventKind) -> Option<EventKind> {
        if !self.has_room() {
            return Some(kind);
        }
        self.try_pass(Said::new(&self.agent, kind));
        None
    }

    fn has_room(&self) -> bool {
        let outer = self.outer.as_deref();
        let own = self.sender.as_ref();
        own.is_none_or(|sender| sender.capacity() > 0) && outer.is_none_or(Gate::has_room)
    }

    /// What finds no room is dropped: somebody took it since it was looked for.
    fn try_pass(&self, said: Said) {
        if let Some(outer) = &self.outer {
            outer.if_open(|| outer.sink.try_pass(said.outwards()));
        }
        if let Some(sender) = &self.sender {
            let _ = sender.try_send(said);
        }
    }
}

/// A way into the sink that can be closed: what comes later, from whatever still holds it, is
/// dropped. One that is made [`held`](Self::held) keeps back what comes until it is opened.
#[derive(Clone)]
pub(crate) struct Gate {
    sink: Sink,
    /// `None` if nobody reads what would pass.
    shared: Option<Arc<Shared>>,
}

struct Shared {
    passage: Mutex<Passage>,
    /// Told when the gate is no longer held.
    released: Notify,
}

enum Passage {
    Held(VecDeque<EventKind>),
    Open,
    Closed,
}

impl Gate {
    /// An open gate.
    pub(crate) fn new(sink: Sink) -> Self {
        Self::at(sink, Passage::Open)
    }

    /// A gate that keeps back what comes: a few events, and then whoever speaks waits.
    pub(crate) fn held(sink: Sink) -> Self {
        Self::at(sink, Passage::Held(VecDeque::new()))
    }

    fn at(sink: Sink, passage: Passage) -> Self {
        let shared = sink.is_read().then(|| {
            Arc::new(Shared {
                passage: Mutex::new(passage),
                released: Notify::new(),
            })
        });
        Self { sink, shared }
    }

    /// Lets out what was kept back, in order, and from then on everything.
    pub(crate) async fn open(&self) {
        let Some(shared) = &self.shared else {
            return;
        };
        while let Some(kind) = shared.next_held() {
            self.sink.send(|| kind).await;
        }
        shared.released.notify_waiters();
    }

    /// From here on nothing passes.
    pub(crate) fn close(&self) {
        if let Some(shared) = &self.shared {
            *shared.passage() = Passage::Closed;
            shared.released.notify_waiters();
        }
    }

    /// Hands one event on at once, or gives it back if there is no room; drops it if the gate
    /// is closed.
    pub(crate) fn try_send(&self, kind: EventKind) -> Option<EventKind> {
        let shared = self.shared.as_ref()?;
        match &mut *shared.passage() {
            Passage::Held(kept) if kept.len() < CAPACITY => {
                kept.push_back(kind);
                None
            }
            Passage::Held(_) => Some(kind),
            Passage::Open => self.sink.try_send(kind),
            Passage::Closed => None,
        }
    }

    /// Hands one event on, waiting for room; the gate may be closed meanwhile.
    pub(crate) async fn send(&self, kind: EventKind) {
        self.pass(Said::new(&self.sink.agent, kind)).await;
    }

    async fn pass(&self, said: Said) {
        let Some(shared) = &self.shared else {
            return;
        };
        shared.released().await;
        if let Some(outer) = &self.sink.outer {
            Box::pin(outer.pass(said.outwards())).await;
        }
        if let Some(sender) = &self.sink.sender
            && let Ok(room) = sender.reserve().await
        {
            self.if_open(|| room.send(said));
        }
    }

    fn has_room(&self) -> bool {
        let is_held = |shared: &Arc<Shared>| matches!(*shared.passage(), Passage::Held(_));
        !self.shared.as_ref().is_some_and(is_held) && self.sink.has_room()
    }

    /// The lock is held over `f`, so that nothing passes once `close` has returned.
    fn if_open(&self, f: impl FnOnce()) {
        if let Some(shared) = &self.shared
            && matches!(*shared.passage(), Passage::Open)
        {
            f();
        }
    }
}

impl Shared {
    fn passage(&self) -> MutexGuard<'_, Passage> {
        self.passage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next event that was kept back. `None` if there is none left; then the gate is open.
    fn next_held(&self) -> Option<EventKind> {
        let mut passage = self.passage();
        let Passage::Held(kept) = &mut *passage else {
            return None;
        };
        let next = kept.pop_front();
        if next.is_none() {
            *passage = Passage::Open;
        }
        next
    }

    /// Waits until the gate is no longer held.
    async fn released(&self) {
        loop {
            let released = self.released.notified();
            if !matches!(*self.passage(), Passage::Held(_)) {
                return;
            }
            released.await;
        }
    }
}
