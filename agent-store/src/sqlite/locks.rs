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

use crate::error::StoreError;

/// How often a file may vanish between being opened and being locked.
const TRIES: u32 = 100;

/// The folder of the locked files, beside the file they are for.
#[derive(Debug, Clone)]
pub(super) struct Locks {
    folder: Arc<Path>,
    database: Arc<Path>,
    /// Which file it was when it was opened.
    identity: Identity,
}

/// What no other file of the machine has, as long as somebody has it open.
type Identity = (u64, u64);

/// Where the file really is: the same, whichever way leads to it and wherever the process goes.
pub(super) async fn file(path: PathBuf) -> Result<PathBuf, StoreError> {
    // SQLite would take these for databases in memory, a new one for each connection.
    if path.as_os_str().is_empty() || path.as_os_str() == ":memory:" {
        let problem = format!(
            "`{}` is no file; `agent_core` has a `MemorySaver`",
            path.display()
        );
        return Err(StoreError::Setting { problem });
    }
    let store = path.display().to_string();
    let found = tokio::task::spawn_blocking(move || {
        let path = std::path::absolute(path)?;
        Ok(behind_links(&path).unwrap_or(path))
    });
    let found: io::Result<PathBuf> = found.await.unwrap_or_else(|error| Err(error.into()));
    found.map_err(|error| StoreError::open(&store, error.into()))
}

/// `None` if there is no such folder; the file need not be there.
#[cfg(unix)]
fn behind_links(path: &Path) -> Option<PathBuf> {
    let of_folder = || {
        Some(
            fs::canonicalize(path.parent()?)
                .ok()?
                .join(path.file_name()?),
        )
    };
    fs::canonicalize(path).ok().or_else(of_folder)
}

#[cfg(not(unix))]
fn behind_links(_: &Path) -> Option<PathBuf> {
    None
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;

    fs::metadata(path).map(|it| (it.dev(), it.ino()))
}

/// An open file is not replaced.
#[cfg(not(unix))]
fn identity(_: &Path) -> io::Result<Identity> {
    Ok((0, 0))
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
    pub(super) fn beside(database: &Path) -> io::Result<Self> {
        let mut folder = database.as_os_str().to_owned();
        folder.push("-locks");
        Ok(Self {
            folder: PathBuf::from(folder).into(),
            database: database.into(),
            identity: identity(database)?,
        })
    }

    /// Whether what is written still goes to the file that others find.
    fn check_database(&self) -> io::Result<()> {
        match identity(&self.database) {
            Ok(found) if found == self.identity => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Err(io::Error::other(format!(
                "the file `{}` was removed or replaced since it was opened",
                self.database.display()
            ))),
        }
    }

    pub(super) async fn take(&self, thread: &str) -> Result<ThreadLock, SaverError> {
        // A name may hold what no file name can, and be longer.
        let name: String = Sha256::digest(thread)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let path = self.folder.join(name);
        let this = self.clone();
        let unavailable = |source: agent_core::BoxError| SaverError::Unavailable {
            thread: thread.to_owned(),
            source,
        };
        let locked = tokio::task::spawn_blocking(move || {
            this.check_database()?;
            fs::create_dir_all(&this.folder)?;
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

    let held = file.metadata().map(|it| (it.dev(), it.ino()));
    matches!((held, identity(path)), (Ok(held), Ok(there)) if held == there)
}

/// An open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
