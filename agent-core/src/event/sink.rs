//! A bounded way from the parts of a run to its reader.
//!
//! A slow reader slows the run: when the channel is full, whoever speaks waits. A reader
//! that is gone drops the run itself, so nobody waits for it.

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
