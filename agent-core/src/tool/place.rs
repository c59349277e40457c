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

/// The place of one call: most call their tool once, but an interceptor may do so several times,
/// also at once. Clones are the same place. `None` is that of a call which ended before a blocking
/// tool was in it.
#[derive(Clone)]
pub(super) struct Place(Option<Arc<Mutex<State>>>);

#[derive(Default)]
struct State {
    /// How many wait for a thread, and how many have one.
    waiting: usize,
    on_thread: usize,
    /// True if one had a thread, ever.
    began: bool,
    /// True once the call has ended.
    is_over: bool,
    /// True if the call ended while its tool waited for its first thread.
    never_ran: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self(Some(Arc::default()))
    }
}

impl Place {
    /// The place of a call that has ended, and in which no blocking tool ran.
    pub(super) fn over() -> Self {
        Self(None)
    }

    fn lock(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.0.as_ref()?;
        Some(state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The tool waits for a thread.
    pub(super) fn wait(&self) -> Waiting {
        if let Some(mut state) = self.lock() {
            state.waiting += 1;
        }
        Waiting(self.clone())
    }

    /// The call is over.
    pub(super) fn leave(&self, leftovers: &Leftovers) {
        if let Some(mut state) = self.lock()
            && !state.is_over
        {
            state.is_over = true;
            state.never_ran = state.waiting > 0 && !state.began;
            leftovers.0.fetch_add(state.on_thread, Ordering::Relaxed);
        }
    }

    /// True if the call ended before the tool had a thread.
    pub(super) fn is_given_up(&self) -> bool {
        self.lock().is_some_and(|state| state.never_ran)
    }
}

/// A blocking tool that waits for its thread.
pub(super) struct Waiting(Place);

impl Waiting {
    /// The tool has its thread, until the guard is dropped. `None` if the call ended meanwhile,
    /// so that the tool must not run.
    pub(super) fn begin(self, leftovers: Leftovers) -> Option<OnThread> {
        let place = self.0.clone();
        {
            let mut state = place.lock().filter(|state| !state.is_over)?;
            state.on_thread += 1;
            state.began = true;
        }
        Some(OnThread { place, leftovers })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(mut state) = self.0.lock() {
            state.waiting -= 1;
        }
    }
}

/// A blocking tool on its thread.
pub(super) struct OnThread {
    place: Place,
    leftovers: Leftovers,
}

impl Drop for OnThread {
    fn drop(&mut self) {
        let was_left_behind = self.place.lock().is_some_and(|mut state| {
            state.on_thread -= 1;
            state.is_over
        });
        if was_left_behind {
            self.leftovers.0.fetch_sub(1, Ordering::Relaxed);
            tracing::info!("a blocking tool ended after its call; its result is thrown away");
        }
    }
}
