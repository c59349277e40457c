//! Callbacks that run when a tool call is cancelled: each once, all of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::panics;

type Callback = Box<dyn FnOnce() + Send>;

/// The callbacks of one call. Fired by whoever ends the call early.
#[derive(Default)]
pub(crate) struct CancelCallbacks {
    state: Mutex<Registered>,
}

#[derive(Default)]
struct Registered {
    fired: bool,
    next: u64,
    callbacks: BTreeMap<u64, Callback>,
}

impl CancelCallbacks {
    /// Registers `f`; runs it at once if the call is over already.
    pub(crate) fn register(self: &Arc<Self>, f: Callback) -> CancelGuard {
        let id = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if !state.fired {
                state.next += 1;
                let id = state.next;
                state.callbacks.insert(id, f);
                return CancelGuard {
                    callbacks: Arc::downgrade(self),
                    id,
                };
            }
            0
        };
        run(f);
        CancelGuard {
            callbacks: Weak::new(),
            id,
        }
    }

    /// Runs every callback that is still there. One that panics does not stop the others.
    pub(crate) fn fire(&self) {
        let callbacks = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.fired = true;
            std::mem::take(&mut state.callbacks)
        };
        for callback in callbacks.into_values() {
            run(callback);
        }
    }
}

fn run(callback: Callback) {
    if panics::caught(callback).is_none() {
        tracing::error!("a cancellation callback panicked");
    }
}

/// Keeps a cancellation callback registered; dropping it takes the callback back.
#[must_use = "dropping the guard takes the callback back"]
pub struct CancelGuard {
    callbacks: Weak<CancelCallbacks>,
    id: u64,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let Some(callbacks) = self.callbacks.upgrade() else {
            return;
        };
        let taken = {
            let mut state = callbacks
                .state
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            state.callbacks.remove(&self.id)
        };
        // Only now that the lock is free: it may own another guard, whose drop takes it too.
        drop(taken);
    }
}

impl fmt::Debug for CancelGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CancelGuard")
    }
}
