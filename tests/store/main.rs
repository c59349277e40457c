//! Threads kept in SQLite and in PostgreSQL.
//!
//! PostgreSQL is used if `AGENT_TEST_POSTGRES_URL` names a server, on which the tests make schemas
//! and drop them; `tests/servers/postgres.sh` starts one. Without it those tests say that they were
//! skipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crash;
mod faults;
mod postgres;
mod sqlite;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agent_core::graph::checkpoint::{
    CheckpointId, CheckpointSaver, Commit, StoredCheckpoint, ThreadChange,
};
use agent_store::{PostgresSaver, SqliteSaver};

/// A name that no other test of this process and no other process has.
fn fresh(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}_{}_{number}", std::process::id())
}

/// A folder that goes with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(fresh("agent_store"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("threads.db")
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The file, or the server and the schema behind a `#`.
async fn open(store: &str) -> Arc<dyn CheckpointSaver> {
    match store.split_once('#') {
        Some((url, schema)) => {
            let saver = PostgresSaver::builder(url)
                .schema(schema)
                .max_connections(2);
            Arc::new(saver.connect().await.unwrap())
        }
        None => Arc::new(SqliteSaver::open(store).await.unwrap()),
    }
}

/// Adds a checkpoint to a thread of this version.
fn adds(expected: u64, id: &str, parent: Option<&str>, payload: &[u8]) -> Commit {
    Commit {
        expected,
        change: ThreadChange::Checkpoint(StoredCheckpoint {
            id: CheckpointId::new(id),
            parent: parent.map(CheckpointId::new),
            payload: payload.into(),
        }),
    }
}

/// The error and all it was caused by, as one text.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}
