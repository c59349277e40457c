//! One process runs on a thread at a time: an advisory lock for each thread that is in use.
//!
//! All of them are held by one connection, which one task owns. The server gives them up when the
//! connection ends.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_core::graph::checkpoint::{SaverError, ThreadLock};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Takes and gives up locks. Clones are the same holder.
#[derive(Clone)]
pub(super) struct Locks {
    orders: mpsc::UnboundedSender<Order>,
    /// The threads that this process has, as one holder may take a lock of the server twice.
    held: Arc<Mutex<HashSet<String>>>,
    schema: Arc<str>,
    limit: Duration,
}

enum Order {
    Take {
        key: String,
        /// False if somebody has it.
        done: oneshot::Sender<Result<bool, sqlx::Error>>,
    },
    GiveUp {
        key: String,
    },
}

/// A thread that is in use.
struct Held {
    locks: Locks,
    key: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        let key = std::mem::take(&mut self.key);
        let mut held = self
            .locks
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        held.remove(&key);
        // Still under the lock, so that who takes it next comes behind this.
        let _ = self.locks.orders.send(Order::GiveUp { key });
    }
}

impl Locks {
    pub(super) fn start(options: PgConnectOptions, schema: &str, limit: Duration) -> Self {
        let (orders, received) = mpsc::unbounded_channel();
        let holder = Holder {
            options,
            connection: None,
            keys: HashSet::new(),
            limit,
        };
        tokio::spawn(holder.serve(received));
        Self {
            orders,
            held: Arc::default(),
            schema: schema.into(),
            limit,
        }
    }

    pub(super) async fn take(&self, thread: &str) -> Result<ThreadLock, SaverError> {
        let key = format!("{}:{thread}", self.schema);
        let busy = || SaverError::Busy {
            thread: thread.to_owned(),
        };
        let unavailable = |source: agent_core::BoxError| SaverError::Unavailable {
            thread: thread.to_owned(),
            source,
        };
        let (done, answer) = oneshot::channel();
        {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            if !held.insert(key.clone()) {
                return Err(busy());
            }
            let key = key.clone();
            let _ = self.orders.send(Order::Take { key, done });
        }
        // From here on dropping it gives it up, also if nobody waits for the answer any more.
        let locks = self.clone();
        let lock = ThreadLock::new(Held { locks, key });
        match timeout(self.limit, answer).await {
            Ok(Ok(Ok(true))) => Ok(lock),
            Ok(Ok(Ok(false))) => Err(busy()),
            Ok(Ok(Err(error))) => Err(unavailable(error.into())),
            Ok(Err(_)) => Err(unavailable("the runtime of the store has shut down".into())),
            Err(_) => Err(unavailable(
                format!("no answer within {} s", self.limit.as_secs_f64()).into(),
            )),
        }
    }
}

/// The task that owns the connection.
struct Holder {
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    /// What the connection holds.
    keys: HashSet<String>,
    limit: Duration,
}

impl Holder {
    /// Serves until the last store of its kind is gone.
    async fn serve(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        while let Some(order) = orders.recv().await {
            match order {
                Order::Take { key, done } => {
                    let taken = match timeout(self.limit, self.take(&key)).await {
                        Ok(taken) => taken,
                        Err(_) => Err(sqlx::Error::PoolTimedOut),
                    };
                    match &taken {
                        Ok(true) => _ = self.keys.insert(key),
                        Ok(false) => {}
                        Err(_) => self.connection = None,
                    }
                    let _ = done.send(taken);
                }
                Order::GiveUp { key } => {
                    if self.keys.remove(&key) {
                        let given_up = timeout(self.limit, self.give_up(&key)).await;
                        if !matches!(given_up, Ok(Ok(()))) {
                            // With the connection all goes; what is still in use is taken again.
                            self.connection = None;
                        }
                    }
                }
            }
        }
    }

    async fn take(&mut self, key: &str) -> Result<bool, sqlx::Error> {
        if let Some(connection) = &mut self.connection {
            match try_lock(connection, key).await {
                Ok(taken) => return Ok(taken),
                Err(error) => tracing::warn!(%error, "the connection of the locks was lost"),
            }
        }
        self.connection = None;
        let mut connection = PgConnection::connect_with(&self.options).await?;
        for held in &self.keys {
            if !try_lock(&mut connection, held).await? {
                tracing::warn!(thread = held, "somebody else took a thread that is in use");
            }
        }
        let connection = self.connection.insert(connection);
        try_lock(connection, key).await
    }

    async fn give_up(&mut self, key: &str) -> Result<(), sqlx::Error> {
        if let Some(connection) = &mut self.connection {
            sqlx::query("SELECT pg_advisory_unlock(hashtextextended($1, 0))")
                .bind(key)
                .execute(connection)
                .await?;
        }
        Ok(())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Closed in order if there is a runtime to do it; else the server sees that it is gone.
        if let (Some(connection), Ok(runtime)) = (
            self.connection.take(),
            tokio::runtime::Handle::try_current(),
        ) {
            runtime.spawn(connection.close());
        }
    }
}

async fn try_lock(connection: &mut PgConnection, key: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtextextended($1, 0))")
        .bind(key)
        .fetch_one(connection)
        .await
}
