//! One process runs on a thread at a time: a locked file for each thread that is in use.
//!
//! The operating system gives up the locks of a process that dies.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_core::graph::checkpoint::{SaverError, ThreadLock};
use fs4::{FileExt, TryLockError};
use sha2::{Digest as _, Sha256};

/// How often a file may vanish between being opened and being locked.
const TRIES: u32 = 100;

/// The folder of the locked files.
#[derive(Debug, Clone)]
pub(super) struct Locks {
    folder: Arc<Path>,
}

/// A file that is locked; it goes with the lock.
struct Locked {
    path: PathBuf,
    _file: File,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Still locked: who opens it now finds that it is gone once the lock is free. Where an
        // open file cannot be removed it stays, which does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

impl Locks {
    pub(super) fn beside(database: &Path) -> Self {
        let mut folder = database.as_os_str().to_owned();
        folder.push("-locks");
        Self {
            folder: PathBuf::from(folder).into(),
        }
    }

    pub(super) async fn take(&self, thread: &str) -> Result<ThreadLock, SaverError> {
        // A name may hold what no file name can, and be longer.
        let name: String = Sha256::digest(thread)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let path = self.folder.join(name);
        let folder = Arc::clone(&self.folder);
        let unavailable = |source: agent_core::BoxError| SaverError::Unavailable {
            thread: thread.to_owned(),
            source,
        };
        let locked = tokio::task::spawn_blocking(move || {
            fs::create_dir_all(&folder)?;
            lock(path)
        })
        .await
        .map_err(|error| unavailable(error.into()))?
        .map_err(|error| unavailable(error.into()))?;
        match locked {
            Some(locked) => Ok(ThreadLock::new(locked)),
            None => Err(SaverError::Busy {
                thread: thread.to_owned(),
            }),
        }
    }
}

/// `None` if somebody has it.
fn lock(path: PathBuf) -> io::Result<Option<Locked>> {
    for _ in 0..TRIES {
        let mut options = OpenOptions::new();
        let file = options
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        match FileExt::try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if is_at(&file, &path) {
            return Ok(Some(Locked { path, _file: file }));
        }
    }
    Ok(None)
}

/// True if the file is still the one at this path: its last holder may have removed it.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// An open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
