//! The conformance suite of savers, run on the one that is here, and on some that are wrong.

use std::sync::Arc;

use agent_core::BoxFuture;
use agent_core::graph::checkpoint::{
    CheckpointId, CheckpointSaver, Commit, MemorySaver, SaverError, StoredCheckpoint, StoredThread,
    ThreadChange, ThreadLock, conformance,
};

#[tokio::test]
async fn the_memory_saver_passes_the_suite() {
    // CK-1, CK-4, CK-5, ck.5: names of threads are taken literally
    let saver = MemorySaver::new();
    let (one, other) = (saver.clone(), saver.clone());

    conformance::check(Arc::new(saver.clone())).await.unwrap();
    conformance::check_shared(Arc::new(one), Arc::new(other))
        .await
        .unwrap();
    // The suite leaves nothing behind.
    assert_eq!(saver.threads(), [""; 0]);
    assert!(saver.bytes_written() > 0);
}

#[tokio::test]
async fn two_stores_are_not_one() {
    let (one, other) = (MemorySaver::new(), MemorySaver::new());

    let violation = conformance::check_shared(Arc::new(one), Arc::new(other)).await;
    assert!(violation.is_err());
}

/// One thing a saver does wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    IgnoresTheVersion,
    ForgetsWrites,
    KeepsWrites,
    LocksNothing,
    LowersNames,
    ListsOldestFirst,
    DeletesNothing,
    LosesABranch,
    NamesAllAnew,
}

struct Wrong(Fault, MemorySaver);

impl Wrong {
    fn name(&self, thread: &str) -> String {
        match self.0 {
            Fault::LowersNames => thread.to_lowercase(),
            _ => thread.to_owned(),
        }
    }
}

impl CheckpointSaver for Wrong {
    fn lock<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<ThreadLock, SaverError>> {
        match self.0 {
            Fault::LocksNothing => Box::pin(async { Ok(ThreadLock::new(())) }),
            _ => self.1.lock(thread),
        }
    }

    fn load<'a>(
        &'a self,
        thread: &'a str,
        at: Option<&'a CheckpointId>,
    ) -> BoxFuture<'a, Result<Option<StoredThread>, SaverError>> {
        Box::pin(async move {
            let at = match self.0 {
                Fault::LosesABranch => None,
                _ => at,
            };
            let mut loaded = self.1.load(&self.name(thread), at).await?;
            match (&mut loaded, self.0) {
                (Some(thread), Fault::ForgetsWrites) => thread.writes.truncate(2),
                (Some(thread), Fault::KeepsWrites) if thread.writes.is_empty() => {
                    thread.writes = vec![b"old".as_slice().into()];
                }
                _ => {}
            }
            Ok(loaded)
        })
    }

    fn commit<'a>(
        &'a self,
        thread: &'a str,
        mut commit: Commit,
    ) -> BoxFuture<'a, Result<(), SaverError>> {
        Box::pin(async move {
            let thread = self.name(thread);
            if let (Fault::IgnoresTheVersion, ThreadChange::Writes(_)) = (self.0, &commit.change) {
                let loaded = self.1.load(&thread, None).await?;
                commit.expected = loaded.map_or(0, |thread| thread.version);
            }
            self.1.commit(&thread, commit).await
        })
    }

    fn list<'a>(
        &'a self,
        thread: &'a str,
        before: Option<&'a CheckpointId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, SaverError>> {
        Box::pin(async move {
            let mut listed = self.1.list(&self.name(thread), before, limit).await?;
            if let Fault::ListsOldestFirst = self.0 {
                listed.reverse();
            }
            Ok(listed)
        })
    }

    fn delete<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<bool, SaverError>> {
        Box::pin(async move {
            match self.0 {
                Fault::DeletesNothing => Ok(true),
                _ => self.1.delete(&self.name(thread)).await,
            }
        })
    }

    fn names<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, SaverError>> {
        Box::pin(async move {
            let after = match self.0 {
                Fault::NamesAllAnew => None,
                _ => after,
            };
            self.1.names(&self.name(prefix), after, limit).await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_suite_finds_what_a_saver_does_wrong() {
    for (fault, check) in [
        (Fault::IgnoresTheVersion, "for another version"),
        (Fault::ForgetsWrites, "byte for byte"),
        (Fault::KeepsWrites, "until the next checkpoint"),
        (Fault::LocksNothing, "one lock"),
        (Fault::LowersNames, "taken literally"),
        (Fault::ListsOldestFirst, "last commit in front"),
        (Fault::DeletesNothing, "is empty"),
        (Fault::LosesABranch, "until the next checkpoint"),
        (Fault::NamesAllAnew, "how their names begin"),
    ] {
        let saver = Arc::new(Wrong(fault, MemorySaver::new()));

        let violation = conformance::check(saver).await;
        let violation = violation.expect_err("the fault was not found");
        assert!(violation.check().contains(check), "{fault:?}: {violation}");
    }
}
