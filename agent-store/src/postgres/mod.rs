//! Threads in PostgreSQL.

mod locks;

use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use agent_core::graph::checkpoint::RunningThreads;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, Postgres};

use self::locks::Locks;
use crate::error::StoreError;
use crate::migrations::migrator;
use crate::saver::keeps_threads;
use crate::tables::{LONGEST, Tables, Words};

const VERSIONS: &[&str] = &[include_str!("../../migrations/postgres/1_threads.sql")];

const WORDS: Words = Words {
    read: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    write: "BEGIN ISOLATION LEVEL READ COMMITTED",
    for_update: " FOR UPDATE",
    texts: "SELECT jsonb_array_elements_text($2::jsonb)",
};

/// Keeps threads in a PostgreSQL database, version 11 or later, which many processes may share.
///
/// Its tables stand in a schema of their own, `agent_store` by default, which is made if it is not
/// there. Beside its pool it holds one connection, on which the locks of the threads in use are
/// held: PostgreSQL gives them up when the process dies. Through a pooler that hands a connection
/// to another client after each transaction, such locks do not work. Should that connection be lost
/// during a run, its locks are taken again with the next one; a second writer that came in between
/// is refused at its commit. Cloning is cheap and gives the same store.
///
/// ```no_run
/// use agent_store::PostgresSaver;
///
/// # async fn open() -> Result<(), agent_store::StoreError> {
/// let saver = PostgresSaver::builder("postgres://app@db.internal/app")
///     .schema("threads")
///     .max_connections(20)
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresSaver {
    tables: Arc<Tables<Postgres>>,
    locks: Locks,
    /// The server, without the password.
    store: String,
}

/// How a [`PostgresSaver`] connects.
#[derive(Clone)]
#[must_use]
pub struct PostgresSaverBuilder {
    url: String,
    schema: String,
    max_connections: u32,
    limit: Duration,
}

impl PostgresSaver {
    /// Connects to the database of this URL, with the settings that stand
    /// [there](PostgresSaverBuilder).
    ///
    /// # Errors
    ///
    /// As [`PostgresSaverBuilder::connect`].
    pub async fn connect(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::builder(url).connect().await
    }

    /// A store that is not yet connected.
    pub fn builder(url: impl Into<String>) -> PostgresSaverBuilder {
        PostgresSaverBuilder {
            url: url.into(),
            schema: "agent_store".to_owned(),
            max_connections: 10,
            limit: Duration::from_secs(30),
        }
    }
}

impl PostgresSaverBuilder {
    /// The schema of the tables: lower-case ASCII letters, digits and `_`, at most 63, with no
    /// digit in front. Default: `agent_store`.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// How many connections there are at most, without the one of the locks. 0 is taken for 1.
    /// Default: 10.
    pub fn max_connections(mut self, connections: u32) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// How long one operation may take, the wait for a connection included; at most 24 days.
    /// Default: 30 s.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit.min(LONGEST);
        self
    }

    /// Connects, and brings the tables up to date, all within the time limit.
    ///
    /// # Errors
    ///
    /// [`StoreError::Setting`] for a schema or a URL that cannot be used; [`StoreError::Open`] if
    /// the server cannot be reached or refuses, or if the time is over; [`StoreError::TooNew`] if a newer version of this
    /// crate made the tables.
    pub async fn connect(self) -> Result<PostgresSaver, StoreError> {
        let Self {
            url,
            schema,
            max_connections,
            limit,
        } = self;
        check_schema(&schema)?;
        check_scheme(&url)?;
        let options = PgConnectOptions::from_str(&url).map_err(|error| StoreError::Setting {
            problem: format!("the URL of the database cannot be read: {error}"),
        })?;
        let store = format!(
            "postgres://{}:{}/{}",
            options.get_host(),
            options.get_port(),
            options.get_database().unwrap_or_default()
        );
        let options = options.options([("search_path", schema.as_str())]);
        let opened = tokio::time::timeout(limit, async {
            let pool = open(&options, &schema, max_connections, limit).await;
            let pool = pool.map_err(|error| StoreError::open(&store, error))?;
            migrate(&pool, &store).await?;
            Ok(pool)
        });
        let pool = match opened.await {
            Ok(opened) => opened?,
            Err(_) => {
                let source = format!("it was not open within {limit:?}").into();
                return Err(StoreError::Open { store, source });
            }
        };
        Ok(PostgresSaver {
            locks: Locks::start(options, &schema, limit),
            tables: Arc::new(Tables {
                readers: pool.clone(),
                writers: pool,
                words: WORDS,
                limit,
                running: Arc::new(RunningThreads::new()),
            }),
            store,
        })
    }
}

async fn open(
    options: &PgConnectOptions,
    schema: &str,
    max_connections: u32,
    limit: Duration,
) -> Result<PgPool, sqlx::Error> {
    make_schema(options, schema).await?;
    PgPoolOptions::new()
        .max_connections(max_connections)
        .acquire_timeout(limit)
        .connect_with(options.clone())
        .await
}

async fn migrate(pool: &PgPool, store: &str) -> Result<(), StoreError> {
    let migrated = match migrator(VERSIONS).await {
        Ok(migrations) => migrations.run(pool).await,
        Err(error) => Err(error),
    };
    migrated.map_err(|error| StoreError::migrate(store, error))
}

/// The driver takes any.
fn check_scheme(url: &str) -> Result<(), StoreError> {
    match url.split_once("://") {
        Some((scheme, _)) if !matches!(scheme, "postgres" | "postgresql") => {
            Err(StoreError::Setting {
                problem: "the URL of the database does not begin with `postgres://`".to_owned(),
            })
        }
        _ => Ok(()),
    }
}

/// The schema goes into statements as it is.
fn check_schema(schema: &str) -> Result<(), StoreError> {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    let digit_first = schema
        .bytes()
        .next()
        .is_none_or(|byte| byte.is_ascii_digit());
    if digit_first || schema.len() > 63 || !schema.bytes().all(plain) {
        return Err(StoreError::Setting {
            problem: format!(
                "the schema `{}` may hold lower-case ASCII letters, digits and `_` only, and at most 63",
                schema.escape_debug()
            ),
        });
    }
    Ok(())
}

/// Makes the schema if it is not there. Who may not make one can still use it.
async fn make_schema(options: &PgConnectOptions, schema: &str) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(options).await?;
    let there = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
    let found = sqlx::query(there)
        .bind(schema)
        .fetch_optional(&mut connection)
        .await?;
    if found.is_none() {
        let make = format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\"");
        let made = sqlx::query(&make).execute(&mut connection).await;
        // Two that make it at once: one of them fails, and finds it.
        if let Err(error) = made
            && sqlx::query(there)
                .bind(schema)
                .fetch_optional(&mut connection)
                .await?
                .is_none()
        {
            return Err(error);
        }
    }
    connection.close().await
}

keeps_threads!(PostgresSaver);

impl fmt::Debug for PostgresSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSaver")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PostgresSaverBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSaverBuilder")
            .field("schema", &self.schema)
            .field("max_connections", &self.max_connections)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
