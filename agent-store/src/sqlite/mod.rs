//! Threads in one SQLite file.

mod locks;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_core::graph::checkpoint::RunningThreads;
#[cfg(doc)]
use agent_core::graph::checkpoint::SaverError;
use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Sqlite, SqlitePool};

use self::locks::Locks;
use crate::error::StoreError;
use crate::migrations::migrator;
use crate::saver::keeps_threads;
use crate::tables::{LONGEST, Tables, Words};

const VERSIONS: &[&str] = &[include_str!("../../migrations/sqlite/1_threads.sql")];

const WORDS: Words = Words {
    read: "BEGIN",
    write: "BEGIN IMMEDIATE",
    for_update: "",
    texts: "SELECT value FROM json_each($2)",
};

/// How long it may take to open the file.
const OPENING: Duration = Duration::from_secs(30);

/// Bytes of a page of the file.
const PAGE: u32 = 4096;

/// Keeps threads in one SQLite file, which several processes of one machine may share.
///
/// The file is in WAL mode: two more of its name, with `-wal` and `-shm` behind it, stand beside it
/// while it is open, and a folder with `-locks` behind it, with one empty file for each thread
/// that is in use. A commit is on the disk when it returns. The file is for this alone, and not
/// on a network file system, whose locks do not hold. If it is removed, or another takes its place,
/// no more runs begin; a run that goes on meanwhile does not notice, and what it writes from then on
/// is lost with the file. Cloning is cheap and gives the same store.
///
/// When another process writes, a commit waits and then fails with [`SaverError::Unavailable`]; so
/// does one for which the disk has no room, and one to a file that may not be written. Nothing of it
/// is kept then.
#[derive(Clone)]
pub struct SqliteSaver {
    tables: Arc<Tables<Sqlite>>,
    locks: Locks,
}

/// How a [`SqliteSaver`] is opened.
#[derive(Debug, Clone)]
#[must_use]
pub struct SqliteSaverBuilder {
    path: PathBuf,
    limit: Duration,
    max_bytes: Option<u64>,
}

impl SqliteSaver {
    /// Opens the file, or makes it if there is none. Its folder must be there.
    ///
    /// # Errors
    ///
    /// As [`SqliteSaverBuilder::open`].
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::builder(path).open().await
    }

    /// A store that is not yet open.
    pub fn builder(path: impl Into<PathBuf>) -> SqliteSaverBuilder {
        SqliteSaverBuilder {
            path: path.into(),
            limit: Duration::from_secs(30),
            max_bytes: None,
        }
    }
}

impl SqliteSaverBuilder {
    /// How long one operation may take, the wait for another process that writes included; at most
    /// 24 days. Default: 30 s.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit.min(LONGEST);
        self
    }

    /// The most that the file may hold, in whole pages of 4 KiB. A commit for which there is no
    /// room fails, as on a full disk. Default: no limit.
    pub fn max_bytes(mut self, limit: u64) -> Self {
        self.max_bytes = Some(limit);
        self
    }

    /// Opens the file, or makes it, and brings its tables up to date.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`] if it cannot be opened or is no SQLite file, and on a disk that is
    /// read-only;
    /// [`StoreError::TooNew`] if a newer version of this crate made its tables;
    /// [`StoreError::Setting`] for `:memory:`, which is no file.
    pub async fn open(self) -> Result<SqliteSaver, StoreError> {
        let Self {
            path,
            limit,
            max_bytes,
        } = self;
        let store = path.display().to_string();
        let path = locks::file(path).await?;
        let mut options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(limit)
            .page_size(PAGE)
            .foreign_keys(true);
        if let Some(limit) = max_bytes {
            // None at all is no limit to SQLite.
            let pages = (limit / u64::from(PAGE)).max(1);
            options = options.pragma("max_page_count", pages.to_string());
        }
        let pool = |connections| {
            SqlitePoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(OPENING)
                .connect_with(options.clone())
        };
        let open = |error| StoreError::open(&store, error);
        // One at a time may write: who waits here is served in turn, and in the file by chance.
        let writers = pool(1).await.map_err(open)?;
        let migrated = match migrator(VERSIONS).await {
            Ok(migrations) => migrations.run(&writers).await,
            Err(error) => Err(error),
        };
        migrated.map_err(|error| StoreError::migrate(&store, error))?;
        may_write(&writers).await.map_err(open)?;
        let locks = Locks::beside(&path).map_err(|error| open(error.into()))?;
        Ok(SqliteSaver {
            tables: Arc::new(Tables {
                readers: pool(4).await.map_err(open)?,
                writers,
                words: WORDS,
                limit,
                running: Arc::new(RunningThreads::new()),
            }),
            locks,
        })
    }
}

/// A file with nothing to bring up to date opens on a disk that is read-only, too, if who had it
/// before came to no good end.
async fn may_write(writers: &SqlitePool) -> Result<(), sqlx::Error> {
    // It changes nothing, and is refused like what does. `BEGIN IMMEDIATE` is not.
    let nothing = sqlx::query("DELETE FROM agent_thread WHERE FALSE");
    match nothing.execute(writers).await {
        // Somebody else is writing.
        Err(sqlx::Error::Database(error)) if is_busy(&*error) => Ok(()),
        written => written.map(drop),
    }
}

/// True for `SQLITE_BUSY` in all its forms: <https://www.sqlite.org/rescode.html>
fn is_busy(error: &dyn DatabaseError) -> bool {
    let code = error.code().and_then(|code| code.parse::<u32>().ok());
    code.is_some_and(|code| code & 0xFF == 5)
}

keeps_threads!(SqliteSaver);

impl fmt::Debug for SqliteSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSaver")
            .field("locks", &self.locks)
            .finish_non_exhaustive()
    }
}
