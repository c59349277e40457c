//! A bounded way from the parts of a run to its reader.
//!
//! A slow reader slows the run: when the channel is full, whoever speaks waits. A reader
//! that is gone drops the run itself, so nobody waits for it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;

use super::EventKind;

/// How many events may wait for the reader.
const CAPACITY: usize = 64;

/// Where the parts of a run put their events.
#[derive(Clone)]
pub(crate) struct Sink(mpsc::Sender<EventKind>);

/// A sink and the end it leads to.
pub(crate) fn channel() -> (Sink, mpsc::Receiver<EventKind>) {
    let (sender, receiver) = mpsc::channel(CAPACITY);
    (Sink(sender), receiver)
}

impl Sink {
    /// Hands one event on, waiting for room.
    pub(crate) async fn send(&self, kind: EventKind) {
        // The receiver lives in the same stream as the run: it is only gone with it.
        let _ = self.0.send(kind).await;
    }

    /// Hands one event on at once, or gives it back if there is no room.
    pub(crate) fn try_send(&self, kind: EventKind) -> Option<EventKind> {
        match self.0.try_send(kind) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => None,
            Err(mpsc::error::TrySendError::Full(kind)) => Some(kind),
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

    /// As [`Sink::try_send`], for as long as the gate is open.
    pub(crate) fn try_send(&self, kind: EventKind) -> Option<EventKind> {
        self.if_open(|_| self.sink.try_send(kind)).flatten()
    }

    /// As [`Sink::send`]; the gate may be closed while this waits for room.
    pub(crate) async fn send(&self, kind: EventKind) {
        if let Ok(room) = self.sink.0.reserve().await {
            self.if_open(|_| room.send(kind));
        }
    }

    /// The lock is held over `f`, so that nothing passes once `close` has returned.
    fn if_open<T>(&self, f: impl FnOnce(&mut bool) -> T) -> Option<T> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.then(|| f(&mut open))
    }
}
