//! A real server.

use std::sync::Arc;
use std::time::Duration;

use agent_core::graph::checkpoint::{CheckpointId, CheckpointSaver as _, SaverError, conformance};
use agent_store::{PostgresSaver, StoreError};
use sqlx::{Connection as _, PgConnection};

use super::{adds, chain, fresh};

/// A schema of a real server, dropped at the end of the test.
pub(super) struct Server {
    pub(super) url: String,
    pub(super) schema: String,
}

impl Server {
    /// `None` where no server is named.
    #[expect(clippy::print_stdout, reason = "a test that did nothing says so")]
    pub(super) fn new() -> Option<Self> {
        let Ok(url) = std::env::var("AGENT_TEST_POSTGRES_URL") else {
            println!("skipped: AGENT_TEST_POSTGRES_URL is not set");
            return None;
        };
        let schema = fresh("agent_test");
        // The connections of this test bear its name.
        let url = format!("{url}?application_name={schema}");
        Some(Self { url, schema })
    }

    async fn saver(&self) -> PostgresSaver {
        let saver = PostgresSaver::builder(&self.url).schema(&self.schema);
        saver.connect().await.unwrap()
    }

    pub(super) async fn raw(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    pub(super) async fn end(self) {
        let mut connection = self.raw().await;
        sqlx::query(&format!(
            "DROP SCHEMA IF EXISTS \"{}\" CASCADE",
            self.schema
        ))
        .execute(&mut connection)
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn it_does_what_every_saver_must_do() {
    // CK-4, ck.6
    let Some(server) = Server::new() else { return };
    let one = server.saver().await;
    let other = server.saver().await;

    let alone = conformance::check(Arc::new(one.clone())).await;
    let shared = conformance::check_shared(Arc::new(one), Arc::new(other)).await;

    alone.unwrap();
    shared.unwrap();
    server.end().await;
}

#[tokio::test]
async fn many_that_open_a_new_schema_at_once_all_can() {
    let Some(server) = Server::new() else { return };

    let opened = futures_util::future::join_all((0..8).map(|_| {
        let saver = PostgresSaver::builder(&server.url).schema(&server.schema);
        saver.max_connections(1).connect()
    }))
    .await;

    for saver in opened {
        saver.unwrap();
    }
    server.end().await;
}

#[tokio::test]
async fn after_every_connection_was_lost_nothing_is_lost_or_doubled() {
    let Some(server) = Server::new() else { return };
    let saver = server.saver().await;
    saver
        .commit("t1", adds(0, "k1", None, b"first"))
        .await
        .unwrap();
    let lock = saver.lock("t1").await.unwrap();
    let mut raw = server.raw().await;
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE application_name = $1 AND pid <> pg_backend_pid()",
    )
    .bind(&server.schema)
    .execute(&mut raw)
    .await
    .unwrap();

    // Whether the first try finds a dead connection is the pool's affair; it never is made twice.
    let mut version = 1;
    while version < 3 {
        let parent = format!("k{version}");
        let id = format!("k{}", version + 1);
        match saver
            .commit("t1", adds(version, &id, Some(&parent), b""))
            .await
        {
            Ok(()) => version += 1,
            Err(error) => assert!(error.is_retryable(), "{}", chain(&error)),
        }
    }
    let other = saver.lock("t2").await.unwrap();

    let thread = saver.load("t1", None).await.unwrap().unwrap();
    assert_eq!((thread.version, thread.chain.len()), (3, 3));
    // The lock that was lost with its connection is held again.
    let elsewhere = server.saver().await;
    assert!(elsewhere.lock("t1").await.is_err());
    drop((lock, other));
    server.end().await;
}

#[tokio::test]
async fn tables_that_somebody_else_holds_are_not_waited_for_beyond_the_limit() {
    let Some(server) = Server::new() else { return };
    drop(server.saver().await);
    let mut raw = server.raw().await;
    let mut holds = raw.begin().await.unwrap();
    let schema = &server.schema;
    let lock = format!("LOCK TABLE \"{schema}\"._sqlx_migrations IN ACCESS EXCLUSIVE MODE");
    sqlx::query(&lock).execute(&mut *holds).await.unwrap();

    let saver = PostgresSaver::builder(&server.url).schema(schema);
    let refused = saver.time_limit(Duration::from_millis(500)).connect();
    let refused = tokio::time::timeout(Duration::from_secs(20), refused).await;

    let refused = refused.expect("it ends by itself").unwrap_err();
    assert!(matches!(refused, StoreError::Open { .. }), "{refused:?}");
    holds.rollback().await.unwrap();
    drop(server.saver().await);
    server.end().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_the_password() {
    let url = "postgres://app:hunter2secret@127.0.0.1:9/db";

    let refused = PostgresSaver::connect(url).await.unwrap_err();

    let text = format!("{} {refused:?}", chain(&refused));
    assert!(matches!(refused, StoreError::Open { .. }));
    assert!(text.contains("127.0.0.1:9/db"), "{text}");
    assert!(!text.contains("hunter2secret"), "{text}");
}

#[tokio::test]
async fn a_url_and_a_schema_that_cannot_be_used_are_refused_before_anything_is_sent() {
    for (url, schema) in [
        ("no url", "agent"),
        ("mysql://127.0.0.1:9/db", "agent"),
        ("postgres://127.0.0.1:9/db", ""),
        ("postgres://127.0.0.1:9/db", "1st"),
        ("postgres://127.0.0.1:9/db", "a\"; DROP TABLE x; --"),
        ("postgres://127.0.0.1:9/db", &"x".repeat(64)),
    ] {
        let refused = PostgresSaver::builder(url).schema(schema).connect().await;

        assert!(
            matches!(refused, Err(StoreError::Setting { .. })),
            "{url} {schema}"
        );
    }
}

#[tokio::test]
async fn settings_at_their_ends_can_be_used() {
    let Some(mut server) = Server::new() else {
        return;
    };
    server.schema = "user".to_owned();
    let saver = PostgresSaver::builder(&server.url)
        .schema(&server.schema)
        .max_connections(0)
        .time_limit(Duration::MAX);

    let saver = saver.connect().await.unwrap();

    assert!(saver.load("t1", None).await.unwrap().is_none());
    server.end().await;
}

#[tokio::test]
async fn what_the_server_cannot_hold_is_not_there() {
    let Some(server) = Server::new() else { return };
    let saver = server.saver().await;
    let made = saver.commit("t1", adds(0, "k1", None, b"first")).await;
    made.unwrap();
    let id = CheckpointId::new("k\0");

    assert!(saver.load("t\0", None).await.unwrap().is_none());
    assert!(saver.list("t\0", None, 9).await.unwrap().is_empty());
    assert!(saver.names("t\0", None, 9).await.unwrap().is_empty());
    assert_eq!(saver.names("t", Some("t\0"), 9).await.unwrap(), ["t1"]);
    assert!(!saver.delete("t\0").await.unwrap());
    for refused in [
        saver.load("t1", Some(&id)).await.map(drop),
        saver.list("t1", Some(&id), 9).await.map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, SaverError::UnknownCheckpoint { .. }),
            "{refused:?}"
        );
    }
    server.end().await;
}
