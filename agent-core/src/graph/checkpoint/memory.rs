//! Checkpoints in memory, for tests and for programs whose threads end with them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{
    CheckpointId, CheckpointSaver, Commit, RunningThreads, SaverError, StoredCheckpoint,
    StoredThread, ThreadChange, ThreadLock,
};
use crate::boxed::BoxFuture;

/// Keeps checkpoints in memory, as long as it or a clone of it lives. Clones share them.
#[derive(Clone, Default)]
pub struct MemorySaver {
    shared: Arc<Mutex<Shared>>,
    running: Arc<RunningThreads>,
}

#[derive(Default)]
struct Shared {
    threads: BTreeMap<String, Thread>,
    locked: HashSet<String>,
    written: u64,
}

#[derive(Default)]
struct Thread {
    version: u64,
    /// By the number of the commit that added it.
    checkpoints: BTreeMap<u64, StoredCheckpoint>,
    numbers: HashMap<CheckpointId, u64>,
    head: Option<CheckpointId>,
    writes: Vec<Arc<[u8]>>,
}

impl MemorySaver {
    /// A saver without threads.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The names of the threads, sorted.
    #[must_use]
    pub fn threads(&self) -> Vec<String> {
        self.shared().threads.keys().cloned().collect()
    }

    /// How many bytes were written so far, deleted ones included.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.shared().written
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the thread back.
struct Unlock {
    saver: MemorySaver,
    thread: String,
}

impl Drop for Unlock {
    fn drop(&mut self) {
        self.saver.shared().locked.remove(&self.thread);
    }
}

impl CheckpointSaver for MemorySaver {
    fn lock<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<ThreadLock, SaverError>> {
        ready(move || {
            let thread = thread.to_owned();
            if !self.shared().locked.insert(thread.clone()) {
                return Err(SaverError::Busy { thread });
            }
            let saver = self.clone();
            Ok(ThreadLock::new(Unlock { saver, thread }))
        })
    }

    fn load<'a>(
        &'a self,
        thread: &'a str,
        at: Option<&'a CheckpointId>,
    ) -> BoxFuture<'a, Result<Option<StoredThread>, SaverError>> {
        ready(move || match self.shared().threads.get(thread) {
            None => Ok(None),
            Some(stored) => stored.load(thread, at).map(Some),
        })
    }

    fn commit<'a>(
        &'a self,
        thread: &'a str,
        commit: Commit,
    ) -> BoxFuture<'a, Result<(), SaverError>> {
        ready(move || {
            let mut shared = self.shared();
            let found = shared
                .threads
                .get(thread)
                .map_or(0, |stored| stored.version);
            if found != commit.expected {
                return Err(SaverError::Conflict {
                    thread: thread.to_owned(),
                    expected: commit.expected,
                    found,
                });
            }
            let written = size(&commit.change);
            let mut stored = shared.threads.remove(thread).unwrap_or_default();
            let made = stored.change(thread, commit.change);
            if made.is_ok() {
                stored.version += 1;
            }
            if stored.version > 0 {
                shared.threads.insert(thread.to_owned(), stored);
            }
            made?;
            shared.written += written;
            Ok(())
        })
    }

    fn list<'a>(
        &'a self,
        thread: &'a str,
        before: Option<&'a CheckpointId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, SaverError>> {
        ready(move || {
            let shared = self.shared();
            let Some(stored) = shared.threads.get(thread) else {
                return Ok(Vec::new());
            };
            let before = match before {
                None => u64::MAX,
                Some(id) => stored.number(thread, id)?,
            };
            let earlier = stored.checkpoints.range(..before).rev().take(limit);
            Ok(earlier.map(|(_, checkpoint)| checkpoint.clone()).collect())
        })
    }

    fn delete<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<bool, SaverError>> {
        ready(move || Ok(self.shared().threads.remove(thread).is_some()))
    }

    fn names<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, SaverError>> {
        ready(move || {
            let from = match after {
                Some(after) if after >= prefix => Bound::Excluded(after),
                _ => Bound::Included(prefix),
            };
            let shared = self.shared();
            let names = shared.threads.range::<str, _>((from, Bound::Unbounded));
            let names = names.map(|(name, _)| name).take(limit);
            let names = names.take_while(|name| name.starts_with(prefix));
            Ok(names.cloned().collect())
        })
    }

    fn running(&self) -> Option<Arc<RunningThreads>> {
        Some(Arc::clone(&self.running))
    }
}

/// Nothing here waits.
fn ready<'a, T: Send + 'a>(
    f: impl FnOnce() -> Result<T, SaverError> + Send + 'a,
) -> BoxFuture<'a, Result<T, SaverError>> {
    Box::pin(async move { f() })
}

fn size(change: &ThreadChange) -> u64 {
    let bytes = match change {
        ThreadChange::Checkpoint(added) => added.payload.len(),
        ThreadChange::Writes(writes) => writes.iter().map(|write| write.len()).sum(),
        ThreadChange::Compact { base, .. } => base.payload.len(),
    };
    bytes as u64
}

impl Thread {
    fn number(&self, thread: &str, id: &CheckpointId) -> Result<u64, SaverError> {
        let number = self.numbers.get(id).copied();
        number.ok_or_else(|| SaverError::UnknownCheckpoint {
            thread: thread.to_owned(),
            id: id.clone(),
        })
    }

    fn load(&self, thread: &str, at: Option<&CheckpointId>) -> Result<StoredThread, SaverError> {
        let mut chain = Vec::new();
        let mut next = at.or(self.head.as_ref());
        while let Some(id) = next {
            let number = self.number(thread, id)?;
            let Some(checkpoint) = self.checkpoints.get(&number) else {
                break;
            };
            chain.push(checkpoint.clone());
            next = checkpoint.parent.as_ref();
        }
        chain.reverse();
        let is_head = at.is_none() || at == self.head.as_ref();
        let writes = match is_head {
            true => self.writes.clone(),
            false => Vec::new(),
        };
        Ok(StoredThread {
            version: self.version,
            chain,
            writes,
        })
    }

    fn change(&mut self, thread: &str, change: ThreadChange) -> Result<(), SaverError> {
        let next = self.version + 1;
        match change {
            ThreadChange::Checkpoint(added) => {
                if self.numbers.contains_key(&added.id) {
                    return Err(SaverError::DuplicateCheckpoint {
                        thread: thread.to_owned(),
                        id: added.id,
                    });
                }
                if let Some(parent) = &added.parent {
                    self.number(thread, parent)?;
                }
                self.head = Some(added.id.clone());
                self.numbers.insert(added.id.clone(), next);
                self.checkpoints.insert(next, added);
                self.writes.clear();
            }
            ThreadChange::Writes(writes) => {
                if self.head.is_none() {
                    return Err(SaverError::Conflict {
                        thread: thread.to_owned(),
                        expected: 1,
                        found: 0,
                    });
                }
                self.writes.extend(writes);
            }
            ThreadChange::Compact { base, keep } => {
                let number = self.number(thread, &base.id)?;
                let mut kept = HashSet::from([number]);
                for id in &keep {
                    kept.insert(self.number(thread, id)?);
                }
                self.checkpoints.retain(|number, _| kept.contains(number));
                self.numbers.retain(|_, number| kept.contains(number));
                self.checkpoints.insert(number, base);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for MemorySaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySaver")
            .field("threads", &self.threads())
            .finish()
    }
}
