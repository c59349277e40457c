//! What a store holds of a thread, to look at, to part from, and to cut.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::listed::list;
use super::load::{Loaded, check_name, load};
use super::record::Record;
use super::running::take;
use super::same::anew;
use super::{
    Checkpoint, CheckpointError, CheckpointId, CheckpointSaver, Commit, SaverError,
    StoredCheckpoint, ThreadChange, format,
};
use crate::state::State;
use crate::state::delta::StateDelta;

/// Stands in the name of a thread between that of the run around it and the call in which it runs.
pub(crate) const NESTED: char = '\u{241f}';

/// How many names are read at once.
const PAGE: usize = 100;

/// The threads of a store: their history, and what can be done to them while nobody runs on them.
///
/// ```
/// use agent_core::graph::checkpoint::{MemorySaver, Threads};
/// use agent_core::graph::{END, START, State, StateError, StateGraph};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let saver = MemorySaver::new();
/// let graph = StateGraph::new()
///     .node("a", async |_: State| Ok::<_, StateError>(()))
///     .edge(START, "a")
///     .edge("a", END)
///     .compile()?
///     .saver(saver.clone());
/// graph.run(()).thread("t1").await?;
///
/// let history = Threads::new(saver).history("t1", 10).await?;
/// assert_eq!(history[0].ran, ["a"]);
/// assert_eq!(history[0].next, [END]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Threads {
    saver: Arc<dyn CheckpointSaver>,
}

impl Threads {
    /// The threads of this store.
    pub fn new(saver: impl CheckpointSaver) -> Self {
        let saver = Arc::new(saver);
        Self { saver }
    }

    /// The last checkpoints of all branches of a thread, those written last in front. Empty if
    /// there is no such thread.
    ///
    /// # Errors
    ///
    /// The store does not work, or what is stored cannot be read.
    pub async fn history(
        &self,
        thread: &str,
        limit: usize,
    ) -> Result<Vec<Checkpoint>, CheckpointError> {
        list(&self.saver, thread, limit).await
    }

    /// The state of a thread at its head, or at another checkpoint. `None` if there is no such
    /// thread.
    ///
    /// # Errors
    ///
    /// As [`history`](Self::history), and if there is no such checkpoint.
    pub async fn state(
        &self,
        thread: &str,
        at: Option<&CheckpointId>,
    ) -> Result<Option<State>, CheckpointError> {
        let loaded = load(&self.saver, thread, at).await?;
        Ok(loaded.map(|loaded| loaded.state))
    }

    /// The names of threads that begin with `prefix`, sorted: at most `limit` of those behind the
    /// one that is named. Those of agents that ran inside of a tool call are among them.
    ///
    /// # Errors
    ///
    /// The store does not work.
    pub async fn names(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, CheckpointError> {
        Ok(self.saver.names(prefix, after, limit).await?)
    }

    /// Makes another thread that stands where this one stood at a checkpoint, or stands now. What
    /// waits there waits in both, under the same ids, and what waits inside of a tool call too.
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state), and if either thread is in use or the other is there already.
    pub async fn fork(
        &self,
        thread: &str,
        at: Option<&CheckpointId>,
        into: &str,
    ) -> Result<(), CheckpointError> {
        check_name(into)?;
        let _lock = take(&self.saver, into).await?;
        if let Some(there) = self.saver.load(into, None).await? {
            return Err(CheckpointError::Saver(SaverError::Conflict {
                thread: into.to_owned(),
                expected: 0,
                found: there.version,
            }));
        }
        let loaded = self.loaded(thread, at).await?;
        let open = loaded.state.transcript();
        let caller = open.last().filter(|_| !open.is_closed());
        if let Some(prefix) = caller.map(|caller| format!("{thread}{NESTED}{}", caller.id().key()))
        {
            for nested in self.within(&prefix).await? {
                let copy = format!("{into}{}", &nested[thread.len()..]);
                let loaded = self.loaded(&nested, None).await?;
                // What a fork that failed has left.
                self.saver.delete(&copy).await?;
                self.commit_fork(&copy, loaded).await?;
            }
        }
        self.commit_fork(into, loaded).await
    }

    async fn commit_fork(&self, into: &str, loaded: Loaded) -> Result<(), CheckpointError> {
        let base = base(into, CheckpointId::fresh(), loaded)?;
        let change = ThreadChange::Checkpoint(base);
        let expected = 0;
        Ok(self.saver.commit(into, Commit { expected, change }).await?)
    }

    /// All the threads whose names begin like this.
    async fn within(&self, prefix: &str) -> Result<Vec<String>, CheckpointError> {
        let mut all: Vec<String> = Vec::new();
        loop {
            let after = all.last().map(String::as_str);
            let page = self.saver.names(prefix, after, PAGE).await?;
            let is_last = page.len() < PAGE;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Keeps the last checkpoints of the thread's way to its head, at least one, and forgets those
    /// before and all other branches. The state stays what it is.
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state), and if somebody runs on the thread.
    pub async fn retain(&self, thread: &str, last: usize) -> Result<(), CheckpointError> {
        check_name(thread)?;
        let _lock = take(&self.saver, thread).await?;
        let head = self.loaded(thread, None).await?;
        let kept = head.chain.len().saturating_sub(last.max(1));
        let (expected, root) = (head.version, head.chain[kept].clone());
        let keep = head.chain[kept + 1..].to_vec();
        let at_root = self.loaded(thread, Some(&root)).await?;
        // The writes stay, as those of the head.
        let base = base(thread, root, at_root.without_writes())?;
        let change = ThreadChange::Compact { base, keep };
        Ok(self
            .saver
            .commit(thread, Commit { expected, change })
            .await?)
    }

    /// Forgets a thread, and those of the agents that ran inside of its tool calls. False if there
    /// is none of this name. Forks of it stay.
    ///
    /// # Errors
    ///
    /// As [`retain`](Self::retain).
    pub async fn delete(&self, thread: &str) -> Result<bool, CheckpointError> {
        if check_name(thread).is_err() {
            return Ok(false);
        }
        let _lock = take(&self.saver, thread).await?;
        // Those first: they are found by the name of this one.
        for nested in self.within(&format!("{thread}{NESTED}")).await? {
            self.saver.delete(&nested).await?;
        }
        Ok(self.saver.delete(thread).await?)
    }

    async fn loaded(
        &self,
        thread: &str,
        at: Option<&CheckpointId>,
    ) -> Result<Loaded, CheckpointError> {
        let loaded = load(&self.saver, thread, at).await?;
        loaded.ok_or_else(|| CheckpointError::ThreadNotFound {
            thread: thread.to_owned(),
        })
    }
}

/// A checkpoint that holds the whole of what led to it.
fn base(
    thread: &str,
    id: CheckpointId,
    loaded: Loaded,
) -> Result<StoredCheckpoint, CheckpointError> {
    let record = Record {
        step: loaded.step,
        created: SystemTime::now(),
        ran: Vec::new(),
        delta: StateDelta::whole(&loaded.state),
        next: Some(loaded.next),
        interrupts: anew(loaded.asked),
        journal: anew(loaded.journal),
        effects: Vec::new(),
    };
    let payload = format::write_checkpoint(&record).map_err(|source| CheckpointError::Encode {
        thread: thread.to_owned(),
        source,
    })?;
    Ok(StoredCheckpoint {
        id,
        parent: None,
        payload: payload.into(),
    })
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").finish_non_exhaustive()
    }
}
