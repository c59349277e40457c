//! Threads as tables: what both databases do alike.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use agent_core::BoxFuture;
use agent_core::graph::checkpoint::{
    CheckpointId, Commit, SaverError, StoredCheckpoint, StoredThread, ThreadChange,
};
use sqlx::{
    ColumnIndex, Connection as _, Database, Decode, Encode, Executor, IntoArguments, Pool,
    Transaction, Type,
};

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
            let mut read = self.readers.begin_with(self.words.read).await?;
            let Some(found) = Self::find(&mut read, thread, "").await? else {
                return Ok(None);
            };
            let asked = at.map(CheckpointId::as_str);
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

    pub(crate) fn commit<'a>(
        &'a self,
        thread: &'a str,
        commit: Commit,
    ) -> BoxFuture<'a, Result<(), SaverError>> {
        self.in_time(thread, async move {
            let mut connection = self.writers.acquire().await?;
            let made = self.make(&mut connection, thread, &commit).await;
            if let Err(Fault::Sql(_)) = made {
                // It may stand in the middle of something.
                connection.close_on_drop();
            }
            made
        })
    }

    async fn make(
        &self,
        connection: &mut DB::Connection,
        thread: &str,
        commit: &Commit,
    ) -> Result<(), Fault> {
        let mut write = connection.begin_with(self.words.write).await?;
        let found = Self::find(&mut write, thread, self.words.for_update).await?;
        let version = found.as_ref().map_or(0, |found| found.version);
        let conflict = |found| SaverError::Conflict {
            thread: thread.to_owned(),
            expected: commit.expected,
            found: from_sql(found),
        };
        if from_sql(version) != commit.expected {
            return Err(conflict(version).into());
        }
        let found = match (found, &commit.change) {
            (Some(found), _) => found,
            (None, ThreadChange::Checkpoint(_)) => {
                match Self::create(&mut write, thread).await? {
                    Some(created) => created,
                    // Somebody else was faster.
                    None => {
                        let found = Self::find(&mut write, thread, "").await?;
                        return Err(conflict(found.map_or(0, |found| found.version)).into());
                    }
                }
            }
            (None, _) => {
                return Err(Fault::Refused(SaverError::Conflict {
                    thread: thread.to_owned(),
                    expected: 1,
                    found: 0,
                }));
            }
        };
        let next = version + 1;
        match &commit.change {
            ThreadChange::Checkpoint(added) => {
                Self::add(&mut write, thread, &found, (added, next)).await?
            }
            ThreadChange::Writes(writes) => Self::append(&mut write, &found, writes, next).await?,
            ThreadChange::Compact { base, keep } => {
                self.compact(&mut write, thread, &found, base, keep).await?;
                Self::set_version(&mut write, &found, next).await?;
            }
        }
        Ok(write.commit().await?)
    }

    async fn compact(
        &self,
        write: &mut Transaction<'_, DB>,
        thread: &str,
        found: &Thread,
        base: &StoredCheckpoint,
        keep: &[CheckpointId],
    ) -> Result<(), Fault> {
        let texts = self.words.texts;
        let ids = keep.iter().chain([&base.id]).map(CheckpointId::as_str);
        let ids: Vec<&str> = ids.collect();
        let list = serde_json::Value::from(ids.clone()).to_string();
        let there: Vec<(String,)> = sqlx::query_as(&format!(
            "SELECT id FROM agent_checkpoint WHERE thread = $1 AND id IN ({texts})"
        ))
        .bind(found.id)
        .bind(list.as_str())
        .fetch_all(&mut **write)
        .await?;
        let there: HashSet<&str> = there.iter().map(|(id,)| &**id).collect();
        if let Some(missing) = ids.iter().find(|id| !there.contains(**id)) {
            return Err(unknown(thread, missing));
        }
        sqlx::query(&format!(
            "DELETE FROM agent_checkpoint WHERE thread = $1 AND id NOT IN ({texts})"
        ))
        .bind(found.id)
        .bind(list.as_str())
        .execute(&mut **write)
        .await?;
        sqlx::query(
            "UPDATE agent_checkpoint SET parent = $3, payload = $4 WHERE thread = $1 AND id = $2",
        )
        .bind(found.id)
        .bind(base.id.as_str())
        .bind(base.parent.as_ref().map(CheckpointId::as_str))
        .bind(&*base.payload)
        .execute(&mut **write)
        .await?;
        Ok(())
    }

    pub(crate) fn list<'a>(
        &'a self,
        thread: &'a str,
        before: Option<&'a CheckpointId>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredCheckpoint>, SaverError>> {
        self.in_time(thread, async move {
            let mut read = self.readers.begin_with(self.words.read).await?;
            let Some(found) = Self::find(&mut read, thread, "").await? else {
                return Ok(Vec::new());
            };
            let before = match before {
                None => i64::MAX,
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
            // One statement is a transaction of its own.
            let gone: Option<(i64,)> =
                sqlx::query_as("DELETE FROM agent_thread WHERE name = $1 RETURNING id")
                    .bind(thread)
                    .fetch_optional(&self.writers)
                    .await?;
            Ok(gone.is_some())
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
        Ok(row.map(|(id, version, head)| Thread { id, version, head }))
    }

    /// `None` if it is there by now.
    async fn create(
        write: &mut Transaction<'_, DB>,
        thread: &str,
    ) -> Result<Option<Thread>, Fault> {
        let row: Option<(i64,)> = sqlx::query_as(
            "INSERT INTO agent_thread (name, version) VALUES ($1, 0) \
             ON CONFLICT (name) DO NOTHING RETURNING id",
        )
        .bind(thread)
        .fetch_optional(&mut **write)
        .await?;
        Ok(row.map(|(id,)| Thread {
            id,
            version: 0,
            head: None,
        }))
    }

    /// A checkpoint and all it came after, the first one in front.
    async fn chain(
        read: &mut Transaction<'_, DB>,
        thread: i64,
        last: &str,
    ) -> Result<Vec<Row>, Fault> {
        // The payloads join at the end, so that the recursion carries names alone.
        let rows = sqlx::query_as(
            "WITH RECURSIVE chain (id, parent, depth) AS ( \
                 SELECT id, parent, 0 FROM agent_checkpoint WHERE thread = $1 AND id = $2 \
                 UNION ALL \
                 SELECT c.id, c.parent, chain.depth + 1 FROM chain \
                 JOIN agent_checkpoint c ON c.thread = $1 AND c.id = chain.parent \
             ) \
             SELECT c.id, c.parent, c.payload FROM chain \
             JOIN agent_checkpoint c ON c.thread = $1 AND c.id = chain.id \
             ORDER BY chain.depth DESC",
        )
        .bind(thread)
        .bind(last)
        .fetch_all(&mut **read)
        .await?;
        Ok(rows)
    }

    async fn add(
        write: &mut Transaction<'_, DB>,
        thread: &str,
        found: &Thread,
        (added, next): (&StoredCheckpoint, i64),
    ) -> Result<(), Fault> {
        let parent = added.parent.as_ref().map(CheckpointId::as_str);
        // The head is there for sure.
        if let Some(parent) = parent.filter(|parent| found.head.as_deref() != Some(parent))
            && !Self::has(write, found, parent).await?
        {
            return Err(unknown(thread, parent));
        }
        if Self::has(write, found, added.id.as_str()).await? {
            return Err(Fault::Refused(SaverError::DuplicateCheckpoint {
                thread: thread.to_owned(),
                id: added.id.clone(),
            }));
        }
        sqlx::query(
            "INSERT INTO agent_checkpoint (thread, version, id, parent, payload) \
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(found.id)
        .bind(next)
        .bind(added.id.as_str())
        .bind(parent)
        .bind(&*added.payload)
        .execute(&mut **write)
        .await?;
        sqlx::query("DELETE FROM agent_write WHERE thread = $1")
            .bind(found.id)
            .execute(&mut **write)
            .await?;
        sqlx::query("UPDATE agent_thread SET version = $2, head = $3 WHERE id = $1")
            .bind(found.id)
            .bind(next)
            .bind(added.id.as_str())
            .execute(&mut **write)
            .await?;
        Ok(())
    }

    async fn has(
        within: &mut Transaction<'_, DB>,
        found: &Thread,
        id: &str,
    ) -> Result<bool, Fault> {
        let version: Option<(i64,)> =
            sqlx::query_as("SELECT version FROM agent_checkpoint WHERE thread = $1 AND id = $2")
                .bind(found.id)
                .bind(id)
                .fetch_optional(&mut **within)
                .await?;
        Ok(version.is_some())
    }

    async fn append(
        write: &mut Transaction<'_, DB>,
        found: &Thread,
        writes: &[Arc<[u8]>],
        next: i64,
    ) -> Result<(), Fault> {
        for (position, payload) in (0_i64..).zip(writes) {
            sqlx::query(
                "INSERT INTO agent_write (thread, version, position, payload) \
                 VALUES ($1, $2, $3, $4)",
            )
            .bind(found.id)
            .bind(next)
            .bind(position)
            .bind(&**payload)
            .execute(&mut **write)
            .await?;
        }
        Self::set_version(write, found, next).await
    }

    async fn set_version(
        write: &mut Transaction<'_, DB>,
        found: &Thread,
        next: i64,
    ) -> Result<(), Fault> {
        sqlx::query("UPDATE agent_thread SET version = $2 WHERE id = $1")
            .bind(found.id)
            .bind(next)
            .execute(&mut **write)
            .await?;
        Ok(())
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
