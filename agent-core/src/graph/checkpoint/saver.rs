//! Where checkpoints are kept: the trait a store implements, and what it is handed.
//!
//! A store keeps bytes and never looks into them. What they say is the business of
//! `graph::checkpoint`; so a store has no format of its own, and one that encrypts or
//! compresses is a wrapper around another.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::RunningThreads;
use crate::boxed::{BoxError, BoxFuture};

/// Identity of a checkpoint within its thread; made by the runner, opaque to a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(Arc<str>);

impl CheckpointId {
    /// An id that was stored.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// An id that meets no other.
    pub(crate) fn fresh() -> Self {
        Self(crate::id::next("cp").into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One checkpoint as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "stores make it; a fourth column is a breaking change for each of them"
)]
pub struct StoredCheckpoint {
    /// Its id, which no other checkpoint of the thread has.
    pub id: CheckpointId,
    /// The checkpoint it came after; `None` for one that holds a whole state.
    pub parent: Option<CheckpointId>,
    /// What it says, as bytes to be given back unchanged.
    pub payload: Arc<[u8]>,
}

/// What a store has of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "stores make it")]
pub struct StoredThread {
    /// How many commits the thread has seen.
    pub version: u64,
    /// The checkpoint that was asked for last, and all it came after, the first one in front.
    /// Never empty.
    pub chain: Vec<StoredCheckpoint>,
    /// What was written since the head, in order. Empty if another checkpoint was asked for.
    pub writes: Vec<Arc<[u8]>>,
}

/// A change to a thread, made as a whole or not at all.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "stores take it apart; a change they do not know must not compile"
)]
pub struct Commit {
    /// The version the thread must have; 0 for one that is not there yet. The commit makes it
    /// one more.
    pub expected: u64,
    /// What to do.
    pub change: ThreadChange,
}

/// What a [`Commit`] does.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_enums,
    reason = "stores match all of them; a change they do not know must not compile"
)]
pub enum ThreadChange {
    /// Adds a checkpoint, makes it the thread's head, and drops the writes since the last head.
    /// Its parent is there; a first one has none. Nothing that is there is replaced.
    Checkpoint(StoredCheckpoint),
    /// Adds writes behind those since the head. The thread is there.
    Writes(Vec<Arc<[u8]>>),
    /// Keeps of the thread only `base` and the checkpoints named by `keep`, the head among
    /// them, and puts `base` in the place of the checkpoint of its id. Head and writes stay.
    Compact {
        /// The new root; it has no parent.
        base: StoredCheckpoint,
        /// What stays beside it.
        keep: Vec<CheckpointId>,
    },
}

/// The sole right to run on a thread, until it is dropped.
#[must_use = "the thread is free again as soon as this is dropped"]
pub struct ThreadLock {
    _guard: Box<dyn Any + Send + Sync>,
}

impl ThreadLock {
    /// A lock that is given up when `guard` is dropped.
    pub fn new(guard: impl Send + Sync + 'static) -> Self {
        Self {
            _guard: Box::new(guard),
        }
    }
}

impl fmt::Debug for ThreadLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadLock").finish_non_exhaustive()
    }
}

/// Keeps the checkpoints of threads.
///
/// A thread is a tree of checkpoints with a head, the writes since the head, and a version that
/// counts its commits. [`commit`](Self::commit) compares the version first, so of two writers
/// that read the same thread one is refused, and loses nothing of the other's. A thread's name
/// is any text without control characters, taken literally.
///
/// Every method may be dropped before it is done; a commit is then made or not made, never half.
/// [`conformance`](super::conformance) tries all that is said here on any implementation.
///
/// ```
/// use std::sync::Arc;
/// use agent_core::graph::checkpoint::{
///     CheckpointId, CheckpointSaver, Commit, MemorySaver, StoredCheckpoint, ThreadChange,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agent_core::graph::checkpoint::SaverError> {
/// let saver: Arc<dyn CheckpointSaver> = Arc::new(MemorySaver::new());
/// let first = StoredCheckpoint {
///     id: CheckpointId::new("k1"),
///     parent: None,
///     payload: b"{}".as_slice().into(),
/// };
/// let change = ThreadChange::Checkpoint(first.clone());
/// saver.commit("t1", Commit { expected: 0, change }).await?;
///
/// let thread = saver.load("t1", None).await?.unwrap();
/// assert_eq!((thread.version, thread.chain), (1, vec![first]));
/// # Ok(())
/// # }
/// ```
pub trait CheckpointSaver: Send + Sync + 'static {
    /// Takes the thread for one run, which need not be there yet. It does not wait for another
    /// that has it. A process that dies gives up its locks.
    ///
    /// # Errors
    ///
    /// [`SaverError::Busy`] if somebody has it, in this process or in another.
    fn lock<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<ThreadLock, SaverError>>;

    /// Reads the thread up to a checkpoint, or up to its head. `None` if there is no such thread.
    ///
    /// # Errors
    ///
    /// [`SaverError::UnknownCheckpoint`] if the thread has no such checkpoint.
    fn load<'a>(
        &'a self,
        thread: &'a str,
        at: Option<&'a CheckpointId>,
    ) -> BoxFuture<'a, Result<Option<StoredThread>, SaverError>>;

    /// Makes a change, if the thread still has the expected version. It is kept, whatever happens
    /// to the process, once this returns.
    ///
    /// # Errors
    ///
    /// [`SaverError::Conflict`] if the thread has another version;
    /// [`SaverError::UnknownCheckpoint`] and [`SaverError::DuplicateCheckpoint`] if the change
    /// does not fit what is there. Nothing has changed then.
    fn commit<'a>(
        &'a self,
        thread: &'a str,
        commit: Commit,
    ) -> BoxFuture<'a, Result<(), SaverError>>;

    /// The thread's checkpoints of all branches, those committed last in front: at most `limit`
    /// of those committed before the one that is named. Empty if there is no such thread.
    ///
    /// # Errors
    ///
    /// [`SaverError::UnknownCheckpoint`] if the thread has no checkpoint `before`.
    fn list<'a>(
        &'a self,
        thread: &'a str,
        before: Option<&'a CheckpointId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, SaverError>>;

    /// Forgets a thread. False if there is none of this name.
    ///
    /// # Errors
    ///
    /// The store cannot be reached.
    fn delete<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<bool, SaverError>>;

    /// The names of threads that begin with `prefix`, in the order of their bytes: at most `limit`
    /// of those behind the one that is named, which need not be there.
    ///
    /// # Errors
    ///
    /// The store cannot be reached.
    fn names<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, SaverError>>;

    /// The runs that go on in this process on threads of this store, if it is one that several
    /// agents share. Where there is none, a run is reached by the agent that runs it alone.
    /// Default: none.
    fn running(&self) -> Option<Arc<RunningThreads>> {
        None
    }
}

impl<S: CheckpointSaver + ?Sized> CheckpointSaver for Arc<S> {
    fn lock<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<ThreadLock, SaverError>> {
        (**self).lock(thread)
    }

    fn load<'a>(
        &'a self,
        thread: &'a str,
        at: Option<&'a CheckpointId>,
    ) -> BoxFuture<'a, Result<Option<StoredThread>, SaverError>> {
        (**self).load(thread, at)
    }

    fn commit<'a>(
        &'a self,
        thread: &'a str,
        commit: Commit,
    ) -> BoxFuture<'a, Result<(), SaverError>> {
        (**self).commit(thread, commit)
    }

    fn list<'a>(
        &'a self,
        thread: &'a str,
        before: Option<&'a CheckpointId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, SaverError>> {
        (**self).list(thread, before, limit)
    }

    fn delete<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<bool, SaverError>> {
        (**self).delete(thread)
    }

    fn names<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, SaverError>> {
        (**self).names(prefix, after, limit)
    }

    fn running(&self) -> Option<Arc<RunningThreads>> {
        (**self).running()
    }
}

/// Why a store did not do what it was asked. Nothing has changed then, unless the store cannot
/// tell: see [`SaverError::Unavailable`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaverError {
    /// Somebody else runs on the thread.
    #[error("thread `{thread}` is in use")]
    Busy {
        /// The thread.
        thread: String,
    },
    /// The thread was changed by somebody else since it was read.
    #[error("thread `{thread}` has version {found}, not {expected}: somebody else changed it")]
    Conflict {
        /// The thread.
        thread: String,
        /// The version it should have had.
        expected: u64,
        /// The version it has.
        found: u64,
    },
    /// The thread has no such checkpoint.
    #[error("thread `{thread}` has no checkpoint `{id}`")]
    UnknownCheckpoint {
        /// The thread.
        thread: String,
        /// The id.
        id: CheckpointId,
    },
    /// The thread has a checkpoint of this id already.
    #[error("thread `{thread}` has a checkpoint `{id}` already")]
    DuplicateCheckpoint {
        /// The thread.
        thread: String,
        /// The id.
        id: CheckpointId,
    },
    /// The store cannot be reached, or cannot write. A commit that ended this way may have been
    /// made: who tries it again learns it by a conflict.
    #[error("the store of thread `{thread}` does not work")]
    Unavailable {
        /// The thread.
        thread: String,
        /// What went wrong.
        source: BoxError,
    },
}

impl SaverError {
    /// True if the same call may succeed later without a change.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Unavailable { .. })
    }
}
