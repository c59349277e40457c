//! A saver of which a test sees each reading and each change, and refuses those it likes.

use std::time::Duration;

use agent_core::BoxFuture;
use agent_core::graph::checkpoint::{
    CheckpointId, CheckpointSaver, Commit, MemorySaver, SaverError, StoredCheckpoint, StoredThread,
    ThreadLock,
};

/// What a saver is asked to do with a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// To hold it for one run.
    Lock,
    /// To read it.
    Load,
    /// To change it.
    Commit,
}

/// A saver in memory, with a test's own word before each access: true if it goes on.
#[derive(Debug, Clone)]
pub struct Watched<F> {
    saver: MemorySaver,
    goes_on: F,
    reading: Duration,
}

impl<F: Fn(Access) -> bool> Watched<F> {
    /// An empty saver; a lock that does not go on never ends, another access fails for want of
    /// room.
    pub fn new(goes_on: F) -> Self {
        Self {
            saver: MemorySaver::new(),
            goes_on,
            reading: Duration::ZERO,
        }
    }

    /// The same, which takes this long to read a thread.
    #[must_use]
    pub fn reading_for(mut self, reading: Duration) -> Self {
        self.reading = reading;
        self
    }

    fn admit(&self, access: Access, thread: &str) -> Result<(), SaverError> {
        match (self.goes_on)(access) {
            true => Ok(()),
            false => Err(SaverError::Unavailable {
                thread: thread.to_owned(),
                source: "no space left".into(),
            }),
        }
    }
}

impl<F: Fn(Access) -> bool + Send + Sync + 'static> CheckpointSaver for Watched<F> {
    fn lock<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<ThreadLock, SaverError>> {
        match (self.goes_on)(Access::Lock) {
            true => self.saver.lock(thread),
            false => Box::pin(std::future::pending()),
        }
    }

    fn load<'a>(
        &'a self,
        thread: &'a str,
        at: Option<&'a CheckpointId>,
    ) -> BoxFuture<'a, Result<Option<StoredThread>, SaverError>> {
        Box::pin(async move {
            self.admit(Access::Load, thread)?;
            tokio::time::sleep(self.reading).await;
            self.saver.load(thread, at).await
        })
    }

    fn commit<'a>(
        &'a self,
        thread: &'a str,
        commit: Commit,
    ) -> BoxFuture<'a, Result<(), SaverError>> {
        Box::pin(async move {
            self.admit(Access::Commit, thread)?;
            self.saver.commit(thread, commit).await
        })
    }

    fn list<'a>(
        &'a self,
        thread: &'a str,
        before: Option<&'a CheckpointId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, SaverError>> {
        self.saver.list(thread, before, limit)
    }

    fn delete<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<bool, SaverError>> {
        self.saver.delete(thread)
    }

    fn names<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, SaverError>> {
        self.saver.names(prefix, after, limit)
    }
}
