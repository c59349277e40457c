//! The runs that go on in this process, by their threads.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The runs that go on in this process on the threads of one store, so that whoever has the store
/// reaches them, for example to stop them. A [saver](super::CheckpointSaver::running) keeps one
/// and gives it to its clones.
#[derive(Default)]
pub struct RunningThreads(Mutex<Runs>);

type Runs = HashMap<Arc<str>, Arc<dyn Any + Send + Sync>>;

impl RunningThreads {
    /// None that goes on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run begins that is reached by this.
    pub(crate) fn begin(&self, thread: &Arc<str>, reached_by: Arc<dyn Any + Send + Sync>) {
        self.runs().insert(Arc::clone(thread), reached_by);
    }

    /// The run that is reached by this is over.
    pub(crate) fn end(&self, thread: &str, reached_by: &Arc<dyn Any + Send + Sync>) {
        let mut runs = self.runs();
        if runs
            .get(thread)
            .is_some_and(|run| Arc::ptr_eq(run, reached_by))
        {
            runs.remove(thread);
        }
    }

    /// How the run on this thread is reached.
    pub(crate) fn find(&self, thread: &str) -> Option<Arc<dyn Any + Send + Sync>> {
        self.runs().get(thread).cloned()
    }
}

impl fmt::Debug for RunningThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.runs().keys()).finish()
    }
}
