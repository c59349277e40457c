//! A bounded way from the parts of a run to its reader.
//!
//! A slow reader slows the run: when the channel is full, whoever speaks waits. A reader
//! that is gone drops the run itself, so nobody waits for it. What a run inside a tool call
//! says reaches the reader of the outer run too.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use super::EventKind;

/// How many events may wait for the reader.
const CAPACITY: usize = 64;

/// What an agent says.
pub(crate) struct Said {
    pub(crate) agent: Arc<str>,
    pub(crate) kind: EventKind,
}

/// Where the parts of a run put their events.
#[derive(Clone)]
pub(crate) struct Sink {
    agent: Arc<str>,
    sender: mpsc::Sender<Said>,
    /// The call of another run in which this one goes on.
    outer: Option<Arc<Gate>>,
}

/// A sink for the events of `agent`, and the end it leads to.
pub(crate) fn channel(agent: Arc<str>, outer: Option<Arc<Gate>>) -> (Sink, mpsc::Receiver<Said>) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    let sink = Sink {
        agent,
        sender,
        outer,
    };
    (sink, receiver)
}

impl Sink {
    /// Hands one event on, waiting for room.
    pub(crate) async fn send(&self, kind: EventKind) {
        let agent = Arc::clone(&self.agent);
        self.pass(Said { agent, kind }).await;
    }

    async fn pass(&self, said: Said) {
        if let Some(outer) = &self.outer {
            let said = said.clone();
            Box::pin(outer.pass(said)).await;
        }
        // The receiver lives in the same stream as the run: it is only gone with it.
        let _ = self.sender.send(said).await;
    }

    /// Hands one event on at once, or gives it back if there is no room.
    fn try_send(&self, kind: EventKind) -> Option<EventKind> {
        if !self.has_room() {
            return Some(kind);
        }
        let agent = Arc::clone(&self.agent);
        self.try_pass(Said { agent, kind });
        None
    }

    fn has_room(&self) -> bool {
        let outer = self.outer.as_deref();
        self.sender.capacity() > 0 && outer.is_none_or(|outer| outer.sink.has_room())
    }

    /// What finds no room is dropped: somebody took it since it was looked for.
    fn try_pass(&self, said: Said) {
        if let Some(outer) = &self.outer {
            outer.if_open(|_| outer.sink.try_pass(said.clone()));
        }
        let _ = self.sender.try_send(said);
    }
}

impl Clone for Said {
    fn clone(&self) -> Self {
        Self {
            agent: Arc::clone(&self.agent),
            kind: self.kind.clone(),
        }
    }
}

/// A way into the sink that can be closed: what comes later, from whatever still holds it, is
/// dropped.
#[derive(Clone)]
pub(crate) struct Gate {
    sink: Sink,
    open: Arc<Mutex<bool>>,
}

impl Gate {
    pub(crate) fn new(sink: Sink) -> Self {
        Self {
            sink,
            open: Arc::new(Mutex::new(true)),
        }
    }

    /// From here on nothing passes.
    pub(crate) fn close(&self) {
        self.if_open(|open| *open = false);
    }

    /// Hands one event on at once, or gives it back if there is no room; drops it if the gate
    /// is closed.
    pub(crate) fn try_send(&self, kind: EventKind) -> Option<EventKind> {
        self.if_open(|_| self.sink.try_send(kind)).flatten()
    }

    /// Hands one event on, waiting for room; the gate may be closed meanwhile.
    pub(crate) async fn send(&self, kind: EventKind) {
        let agent = Arc::clone(&self.sink.agent);
        self.pass(Said { agent, kind }).await;
    }

    async fn pass(&self, said: Said) {
        if let Some(outer) = &self.sink.outer {
            Box::pin(outer.pass(said.clone())).await;
        }
        if let Ok(room) = self.sink.sender.reserve().await {
            self.if_open(|_| room.send(said));
        }
    }

    /// The lock is held over `f`, so that nothing passes once `close` has returned.
    fn if_open<T>(&self, f: impl FnOnce(&mut bool) -> T) -> Option<T> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.then(|| f(&mut open))
    }
}
