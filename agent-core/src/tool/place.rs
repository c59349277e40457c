//! Where a blocking tool is: it waits for a thread, has one, or was left behind on it.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many blocking tools still run though their calls are over. Clones count together.
#[derive(Clone, Default)]
pub(crate) struct Leftovers(Arc<AtomicUsize>);

impl Leftovers {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Leftovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Leftovers({})", self.count())
    }
}

/// The place of one call. Clones are the same place.
#[derive(Clone, Default)]
pub(super) struct Place(Arc<Mutex<State>>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// The tool needs no thread, or is done with it.
    #[default]
    None,
    Waiting,
    OnThread,
    /// The call ended before the tool had a thread.
    GivenUp,
    /// The call ended while the tool was on its thread.
    LeftBehind,
}

impl Place {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tool waits for a thread.
    pub(super) fn wait(&self) {
        *self.lock() = State::Waiting;
    }

    /// The tool has its thread, until the guard is dropped. `None` if the call ended meanwhile,
    /// so that the tool must not run.
    pub(super) fn begin(self, leftovers: Leftovers) -> Option<OnThread> {
        {
            let mut state = self.lock();
            if *state != State::Waiting {
                return None;
            }
            *state = State::OnThread;
        }
        Some(OnThread {
            place: self,
            leftovers,
        })
    }

    /// The call is over.
    pub(super) fn leave(&self, leftovers: &Leftovers) {
        let mut state = self.lock();
        match *state {
            State::Waiting => *state = State::GivenUp,
            State::OnThread => {
                *state = State::LeftBehind;
                leftovers.0.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// True if the call ended before the tool had a thread.
    pub(super) fn is_given_up(&self) -> bool {
        *self.lock() == State::GivenUp
    }
}

/// A blocking tool on its thread.
pub(super) struct OnThread {
    place: Place,
    leftovers: Leftovers,
}

impl Drop for OnThread {
    fn drop(&mut self) {
        let was = std::mem::take(&mut *self.place.lock());
        if was == State::LeftBehind {
            self.leftovers.0.fetch_sub(1, Ordering::Relaxed);
            tracing::info!("a blocking tool ended after its call; its result is thrown away");
        }
    }
}
