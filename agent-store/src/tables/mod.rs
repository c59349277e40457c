//! Threads as tables: what both databases do alike.

mod change;

use std::sync::Arc;
use std::time::Duration;

use agent_core::BoxFuture;
use agent_core::graph::checkpoint::{
    CheckpointId, RunningThreads, SaverError, StoredCheckpoint, StoredThread,
};
use sqlx::{
    ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Pool, Transaction, Type,
};

/// The longest time limit that every driver takes.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 24 * 60 * 60);

/// What the two databases say differently.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    /// Begins a transaction that reads one state of the tables.
    pub(crate) read: &'static str,
    /// Begins a transaction that writes.
    pub(crate) write: &'static str,
    /// Keeps other writers from the row that is read.
    pub(crate) for_update: &'static str,
    /// The texts of a JSON list, which is the second argument.
    pub(crate) texts: &'static str,
}

/// The tables of one store.
#[derive(Debug)]
pub(crate) struct Tables<DB: Database> {
    pub(crate) readers: Pool<DB>,
    pub(crate) writers: Pool<DB>,
    pub(crate) words: Words,
    /// How long one operation may take.
    pub(crate) limit: Duration,
    /// The runs of this process.
    pub(crate) running: Arc<RunningThreads>,
}

/// A thread without its checkpoints.
struct Thread {
    id: i64,
    version: i64,
    head: Option<String>,
}

type Row = (String, Option<String>, Vec<u8>);

impl<DB: Database> Tables<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'q> DB::Arguments<'q>: IntoArguments<'q, DB>,
    for<'a> i64: Encode<'a, DB> + Decode<'a, DB> + Type<DB>,
    for<'a> &'a str: Encode<'a, DB> + Type<DB>,
    for<'a> Option<&'a str>: Encode<'a, DB>,
    for<'a> String: Decode<'a, DB> + Type<DB>,
    for<'a> &'a [u8]: Encode<'a, DB> + Type<DB>,
    for<'a> Vec<u8>: Decode<'a, DB> + Type<DB>,
    usize: ColumnIndex<DB::Row>,
{
    /// Does this in the time there is.
    fn in_time<'a, T: Send + 'a>(
        &'a self,
        thread: &'a str,
        work: impl Future<Output = Result<T, Fault>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, SaverError>> {
        Box::pin(async move {
            let unavailable = |source| SaverError::Unavailable {
                thread: thread.to_owned(),
                source,
            };
            match tokio::time::timeout(self.limit, work).await {
                Ok(Ok(done)) => Ok(done),
                Ok(Err(Fault::Refused(error))) => Err(error),
                Ok(Err(Fault::Sql(error))) => Err(unavailable(error.into())),
                Err(_) => Err(unavailable(
                    format!("no answer within {} s", self.limit.as_secs_f64()).into(),
                )),
            }
        })
    }

    pub(crate) fn load<'a>(
        &'a self,
        thread: &'a str,
        at: Option<&'a CheckpointId>,
    ) -> BoxFuture<'a, Result<Option<StoredThread>, SaverError>> {
        self.in_time(thread, async move {
            if !is_text(thread) {
                return Ok(None);
            }
            let mut read = self.readers.begin_with(self.words.read).await?;
            let Some(found) = Self::find(&mut read, thread, "").await? else {
                return Ok(None);
            };
            let asked = at.map(CheckpointId::as_str);
            if let Some(asked) = asked.filter(|asked| !is_text(asked)) {
                return Err(unknown(thread, asked));
            }
            let last = asked.or(found.head.as_deref()).unwrap_or_default();
            let chain = Self::chain(&mut read, found.id, last).await?;
            let root = match chain.first() {
                None => Some(last),
                Some((_, parent, _)) => parent.as_deref(),
            };
            if let Some(missing) = root {
                return Err(unknown(thread, missing));
            }
            let writes: Vec<(Vec<u8>,)> = match found.head.as_deref() == Some(last) {
                true => sqlx::query_as(
                    "SELECT payload FROM agent_write WHERE thread = $1 ORDER BY version, position",
                )
                .bind(found.id)
                .fetch_all(&mut *read)
                .await?,
                false => Vec::new(),
            };
            Ok(Some(StoredThread {
                version: from_sql(found.version),
                chain: chain.into_iter().map(stored).collect(),
                writes: writes.into_iter().map(|(write,)| write.into()).collect(),
            }))
        })
    }

    pub(crate) fn list<'a>(
        &'a self,
        thread: &'a str,
        before: Option<&'a CheckpointId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, SaverError>> {
        self.in_time(thread, async move {
            if !is_text(thread) {
                return Ok(Vec::new());
            }
            let mut read = self.readers.begin_with(self.words.read).await?;
            let Some(found) = Self::find(&mut read, thread, "").await? else {
                return Ok(Vec::new());
            };
            let before = match before {
                None => i64::MAX,
                Some(id) if !is_text(id.as_str()) => return Err(unknown(thread, id.as_str())),
                Some(id) => {
                    let version: Option<(i64,)> = sqlx::query_as(
                        "SELECT version FROM agent_checkpoint WHERE thread = $1 AND id = $2",
                    )
                    .bind(found.id)
                    .bind(id.as_str())
                    .fetch_optional(&mut *read)
                    .await?;
                    version.ok_or_else(|| unknown(thread, id.as_str()))?.0
                }
            };
            let rows: Vec<Row> = sqlx::query_as(
                "SELECT id, parent, payload FROM agent_checkpoint \
                 WHERE thread = $1 AND version < $2 ORDER BY version DESC LIMIT $3",
            )
            .bind(found.id)
            .bind(before)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *read)
            .await?;
            Ok(rows.into_iter().map(stored).collect())
        })
    }

    pub(crate) fn delete<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<bool, SaverError>> {
        self.in_time(thread, async move {
            if !is_text(thread) {
                return Ok(false);
            }
            // One statement is a transaction of its own.
            let gone: Option<(i64,)> =
                sqlx::query_as("DELETE FROM agent_thread WHERE name = $1 RETURNING id")
                    .bind(thread)
                    .fetch_optional(&self.writers)
                    .await?;
            Ok(gone.is_some())
        })
    }

    pub(crate) fn names<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, SaverError>> {
        self.in_time(prefix, async move {
            if !is_text(prefix) {
                return Ok(Vec::new());
            }
            // No name stands between this and what is before its first zero.
            let after = after.and_then(|after| after.split('\0').next());
            // Those that begin alike stand together in the order of their bytes.
            let names: Vec<(String,)> = sqlx::query_as(
                "SELECT name FROM agent_thread WHERE name >= $1 AND name > $2 \
                 ORDER BY name LIMIT $3",
            )
            .bind(prefix)
            .bind(after.unwrap_or_default())
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&self.readers)
            .await?;
            let names = names.into_iter().map(|(name,)| name);
            Ok(names.take_while(|name| name.starts_with(prefix)).collect())
        })
    }

    async fn find(
        within: &mut Transaction<'_, DB>,
        thread: &str,
        for_update: &str,
    ) -> Result<Option<Thread>, Fault> {
        let row: Option<(i64, i64, Option<String>)> = sqlx::query_as(&format!(
            "SELECT id, version, head FROM agent_thread WHERE name = $1{for_update}"
        ))
        .bind(thread)
        .fetch_optional(&mut **within)
        .await?;
        let Some((id, version, head)) = row else {
            return Ok(None);
        };
        if !(0..i64::MAX).contains(&version) {
            let error = format!("thread `{thread}` has the version {version}");
            return Err(Fault::Sql(sqlx::Error::Decode(error.into())));
        }
        Ok(Some(Thread { id, version, head }))
    }

    /// A checkpoint and all it came after, the first one in front.
    async fn chain(
        read: &mut Transaction<'_, DB>,
        thread: i64,
        last: &str,
    ) -> Result<Vec<Row>, Fault> {
        // The payloads join at the end, so that the recursion carries names alone. It ends, as a
        // parent is older.
        let rows = sqlx::query_as(
            "WITH RECURSIVE chain (id, parent, version) AS ( \
                 SELECT id, parent, version FROM agent_checkpoint WHERE thread = $1 AND id = $2 \
                 UNION ALL \
                 SELECT c.id, c.parent, c.version FROM chain \
                 JOIN agent_checkpoint c ON c.thread = $1 AND c.id = chain.parent \
                 WHERE c.version < chain.version \
             ) \
             SELECT c.id, c.parent, c.payload FROM chain \
             JOIN agent_checkpoint c ON c.thread = $1 AND c.version = chain.version \
             ORDER BY chain.version",
        )
        .bind(thread)
        .bind(last)
        .fetch_all(&mut **read)
        .await?;
        Ok(rows)
    }
}

/// Why an operation was not done.
enum Fault {
    Refused(SaverError),
    Sql(sqlx::Error),
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<SaverError> for Fault {
    fn from(error: SaverError) -> Self {
        Self::Refused(error)
    }
}

/// True if the databases take it as a text. What none of them can hold is not there.
fn is_text(text: &str) -> bool {
    !text.contains('\0')
}

fn unknown(thread: &str, id: &str) -> Fault {
    Fault::Refused(SaverError::UnknownCheckpoint {
        thread: thread.to_owned(),
        id: CheckpointId::new(id),
    })
}

fn stored((id, parent, payload): Row) -> StoredCheckpoint {
    StoredCheckpoint {
        id: CheckpointId::new(id),
        parent: parent.map(CheckpointId::new),
        payload: payload.into(),
    }
}

fn from_sql(version: i64) -> u64 {
    u64::try_from(version).unwrap_or_default()
}
