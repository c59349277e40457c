//! What both savers are: locks of their own, and tables.

/// Makes a [`CheckpointSaver`](agent_core::graph::checkpoint::CheckpointSaver) of a type that has
/// `tables` and `locks`.
macro_rules! keeps_threads {
    ($saver:ty) => {
        const _: () = {
            use agent_core::BoxFuture;
            use agent_core::graph::checkpoint::{
                CheckpointId, CheckpointSaver, Commit, RunningThreads, SaverError,
                StoredCheckpoint, StoredThread, ThreadLock,
            };

            type Made<'a, T> = BoxFuture<'a, Result<T, SaverError>>;

            impl CheckpointSaver for $saver {
                fn lock<'a>(&'a self, thread: &'a str) -> Made<'a, ThreadLock> {
                    Box::pin(self.locks.take(thread))
                }

                fn load<'a>(
                    &'a self,
                    thread: &'a str,
                    at: Option<&'a CheckpointId>,
                ) -> Made<'a, Option<StoredThread>> {
                    self.tables.load(thread, at)
                }

                fn commit<'a>(&'a self, thread: &'a str, commit: Commit) -> Made<'a, ()> {
                    self.tables.commit(thread, commit)
                }

                fn list<'a>(
                    &'a self,
                    thread: &'a str,
                    before: Option<&'a CheckpointId>,
                    limit: usize,
                ) -> Made<'a, Vec<StoredCheckpoint>> {
                    self.tables.list(thread, before, limit)
                }

                fn delete<'a>(&'a self, thread: &'a str) -> Made<'a, bool> {
                    self.tables.delete(thread)
                }

                fn names<'a>(
                    &'a self,
                    prefix: &'a str,
                    after: Option<&'a str>,
                    limit: usize,
                ) -> Made<'a, Vec<String>> {
                    self.tables.names(prefix, after, limit)
                }

                fn running(&self) -> Option<std::sync::Arc<RunningThreads>> {
                    Some(std::sync::Arc::clone(&self.tables.running))
                }
            }
        };
    };
}

pub(crate) use keeps_threads;
