//! The runs that go on in this process, by their threads.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::{CheckpointSaver, SaverError, ThreadLock};

/// The runs that go on in this process on the threads of one store, so that whoever has the store
/// reaches them, for example to stop them. A [saver](super::CheckpointSaver::running) keeps one
/// and gives it to its clones.
#[derive(Default)]
pub struct RunningThreads {
    runs: Mutex<Runs>,
    /// Commits that are being made; each token fires when its commit is over.
    commits: Mutex<HashMap<Arc<str>, CancellationToken>>,
}

type Runs = HashMap<Arc<str>, Arc<dyn Any + Send + Sync>>;

impl RunningThreads {
    /// None that goes on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commits(&self) -> MutexGuard<'_, HashMap<Arc<str>, CancellationToken>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A commit to this thread is made until the guard is dropped.
    pub(super) fn commit(self: Arc<Self>, thread: &Arc<str>) -> Committing {
        let over = CancellationToken::new();
        self.commits().insert(Arc::clone(thread), over.clone());
        Committing {
            runs: self,
            thread: Arc::clone(thread),
            over,
        }
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

/// A commit that is being made.
pub(super) struct Committing {
    runs: Arc<RunningThreads>,
    thread: Arc<str>,
    over: CancellationToken,
}

impl Drop for Committing {
    fn drop(&mut self) {
        self.runs.commits().remove(&self.thread);
        self.over.cancel();
    }
}

/// Takes a thread. A run of this process that was dropped has it until its last commit is made:
/// this waits for that one, and for nobody else.
pub(super) async fn take(
    saver: &Arc<dyn CheckpointSaver>,
    thread: &str,
) -> Result<ThreadLock, SaverError> {
    // Looked at first, as it may be over when the lock is refused.
    let runs = saver.running();
    let commit = runs.and_then(|runs| runs.commits().get(thread).cloned());
    match (saver.lock(thread).await, commit) {
        (Err(SaverError::Busy { .. }), Some(commit)) => {
            commit.cancelled().await;
            saver.lock(thread).await
        }
        (taken, _) => taken,
    }
}

impl fmt::Debug for RunningThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.runs().keys()).finish()
    }
}
