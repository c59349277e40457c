//! How a commit changes the tables: in one transaction, or not at all.

use std::collections::HashSet;
use std::sync::Arc;

use agent_core::BoxFuture;
use agent_core::graph::checkpoint::{
    CheckpointId, Commit, SaverError, StoredCheckpoint, ThreadChange,
};
use sqlx::{
    ColumnIndex, Connection as _, Database, Decode, Encode, Executor, IntoArguments, Transaction,
    Type,
};

use super::{Fault, Tables, Thread, from_sql, unknown};

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
