//! What every [`CheckpointSaver`] must do, as checks that run on any of them.
//!
//! The checks use threads of fresh names and delete them when they pass, so they can run on a
//! store that is in use. [`check`] takes one handle of a store; [`check_shared`] two of the same
//! store, for example two pools of connections, or two processes' worth of them.
//!
//! ```
//! use std::sync::Arc;
//! use agent_core::graph::checkpoint::{MemorySaver, conformance};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), conformance::Violation> {
//! let saver = MemorySaver::new();
//! conformance::check(Arc::new(saver.clone())).await?;
//! conformance::check_shared(Arc::new(saver.clone()), Arc::new(saver)).await?;
//! # Ok(())
//! # }
//! ```

mod checks;

use std::fmt::Debug;
use std::sync::Arc;

use checks::{
    branches, compaction, conflicts, deletion, listing, locks, misfits, names, naming,
    nothing_there, race, round_trip, writes,
};

use super::{
    CheckpointId, CheckpointSaver, Commit, SaverError, StoredCheckpoint, StoredThread, ThreadChange,
};

/// What a saver did that it must not do.
#[derive(Debug, thiserror::Error)]
#[error("{check}: {what}")]
pub struct Violation {
    check: &'static str,
    what: String,
}

impl Violation {
    /// What was to be shown.
    #[must_use]
    pub fn check(&self) -> &str {
        self.check
    }
}

/// Runs every check that needs one handle of the store.
///
/// # Errors
///
/// The first [`Violation`].
pub async fn check(saver: Arc<dyn CheckpointSaver>) -> Result<(), Violation> {
    let try_out = |check| Tried::new(check, &saver);
    nothing_there(try_out("a thread that is not there is empty")).await?;
    round_trip(try_out("what is committed is read back byte for byte")).await?;
    conflicts(try_out("a commit for another version changes nothing")).await?;
    writes(try_out("writes stand in order until the next checkpoint")).await?;
    misfits(try_out(
        "a checkpoint replaces none and follows one that is there",
    ))
    .await?;
    branches(try_out("a thread is a tree, and its head the last commit")).await?;
    listing(try_out("the list has the last commit in front")).await?;
    compaction(try_out("a compacted thread keeps what it is told")).await?;
    deletion(try_out("a deleted thread begins anew")).await?;
    names(try_out("names of threads are taken literally")).await?;
    naming(try_out("threads are found by how their names begin")).await?;
    locks(try_out("a thread has one lock")).await?;
    race(try_out("of racing commits one is made")).await
}

/// Runs the checks that need two handles of one store.
///
/// # Errors
///
/// The first [`Violation`].
pub async fn check_shared(
    one: Arc<dyn CheckpointSaver>,
    other: Arc<dyn CheckpointSaver>,
) -> Result<(), Violation> {
    let check = "what one handle does the other sees";
    let mut one = Tried::new(check, &one);
    let other = Tried {
        thread: one.thread.clone(),
        ..Tried::new(check, &other)
    };
    one.add("k1", None).await?;
    let seen = other.thread_there().await?;
    other.same("the version", &seen.version, &1)?;
    let late = Commit {
        expected: 0,
        change: ThreadChange::Checkpoint(checkpoint("k2", None)),
    };
    let late = other.saver.commit(&other.thread, late).await;
    other.fails("a commit that is late", late, |error| {
        matches!(error, SaverError::Conflict { .. })
    })?;
    let lock = one.ok("a lock", one.saver.lock(&one.thread).await)?;
    let second = other.saver.lock(&other.thread).await;
    other.fails("a lock of the other", second, |error| {
        matches!(error, SaverError::Busy { .. })
    })?;
    drop(lock);
    one.free_again().await?;
    one.end().await
}

/// One check on a thread of its own.
struct Tried {
    check: &'static str,
    saver: Arc<dyn CheckpointSaver>,
    thread: String,
    version: u64,
}

fn checkpoint(id: &str, parent: Option<&str>) -> StoredCheckpoint {
    StoredCheckpoint {
        id: CheckpointId::new(id),
        parent: parent.map(CheckpointId::new),
        payload: format!("payload of {id}").into_bytes().into(),
    }
}

fn ids(checkpoints: &[StoredCheckpoint]) -> Vec<&str> {
    checkpoints.iter().map(|it| it.id.as_str()).collect()
}

impl Tried {
    fn new(check: &'static str, saver: &Arc<dyn CheckpointSaver>) -> Self {
        Self {
            check,
            saver: Arc::clone(saver),
            thread: crate::id::next("conformance"),
            version: 0,
        }
    }

    fn violated(&self, what: String) -> Violation {
        Violation {
            check: self.check,
            what,
        }
    }

    fn ok<T>(&self, what: &str, result: Result<T, SaverError>) -> Result<T, Violation> {
        result.map_err(|error| self.violated(format!("{what} failed: {error:?}")))
    }

    fn same<T: PartialEq + Debug + ?Sized>(
        &self,
        what: &str,
        found: &T,
        expected: &T,
    ) -> Result<(), Violation> {
        match found == expected {
            true => Ok(()),
            false => Err(self.violated(format!("{what} is {found:?}, not {expected:?}"))),
        }
    }

    fn fails<T: Debug>(
        &self,
        what: &str,
        result: Result<T, SaverError>,
        is_right: impl FnOnce(&SaverError) -> bool,
    ) -> Result<(), Violation> {
        match result {
            Err(error) if is_right(&error) => Ok(()),
            other => Err(self.violated(format!("{what} gave {other:?}"))),
        }
    }

    async fn commit(&mut self, change: ThreadChange) -> Result<(), Violation> {
        let expected = self.version;
        let commit = Commit { expected, change };
        self.ok("a commit", self.saver.commit(&self.thread, commit).await)?;
        self.version += 1;
        Ok(())
    }

    async fn add(&mut self, id: &str, parent: Option<&str>) -> Result<(), Violation> {
        self.commit(ThreadChange::Checkpoint(checkpoint(id, parent)))
            .await
    }

    async fn thread_there(&self) -> Result<StoredThread, Violation> {
        let loaded = self.ok("loading", self.saver.load(&self.thread, None).await)?;
        loaded.ok_or_else(|| self.violated("the thread is not there".to_owned()))
    }

    async fn listed(
        &self,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, Violation> {
        let before = before.map(CheckpointId::new);
        let listed = self.saver.list(&self.thread, before.as_ref(), limit).await;
        self.ok("listing", listed)
    }

    /// A lock that was just dropped may take a store a moment to give up.
    async fn free_again(&self) -> Result<(), Violation> {
        for _ in 0..100 {
            if self.saver.lock(&self.thread).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Err(self.violated("the thread is locked though its lock was dropped".to_owned()))
    }

    async fn end(self) -> Result<(), Violation> {
        self.ok("deleting", self.saver.delete(&self.thread).await)
            .map(drop)
    }
}
