//! One file.

use std::sync::Arc;
use std::time::Duration;

use agent_core::graph::checkpoint::{CheckpointSaver as _, SaverError, conformance};
use agent_store::{SqliteSaver, StoreError};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

use super::{Folder, adds, chain};

async fn raw(folder: &Folder) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(folder.file())
        .create_if_missing(true);
    SqliteConnection::connect_with(&options).await.unwrap()
}

#[tokio::test]
async fn it_does_what_every_saver_must_do() {
    // CK-4, ck.6: two handles of one file see each other's commits
    let folder = Folder::new();
    let one = SqliteSaver::open(folder.file()).await.unwrap();
    let other = SqliteSaver::open(folder.file()).await.unwrap();

    let alone = conformance::check(Arc::new(one.clone())).await;
    let shared = conformance::check_shared(Arc::new(one), Arc::new(other)).await;

    alone.unwrap();
    shared.unwrap();
}

#[tokio::test]
async fn what_was_committed_is_there_when_the_file_is_opened_again() {
    let folder = Folder::new();
    let saver = SqliteSaver::open(folder.file()).await.unwrap();
    let added = adds(0, "k1", None, b"first");
    saver.commit("t1", added).await.unwrap();
    drop(saver);

    let saver = SqliteSaver::open(folder.file()).await.unwrap();
    let thread = saver.load("t1", None).await.unwrap().unwrap();

    assert_eq!(&*thread.chain[0].payload, b"first");
}

#[tokio::test]
async fn no_locked_file_is_left_behind() {
    let folder = Folder::new();
    let saver = SqliteSaver::open(folder.file()).await.unwrap();
    let lock = saver.lock("t1").await.unwrap();
    let locks = folder.0.join("threads.db-locks");
    assert_eq!(std::fs::read_dir(&locks).unwrap().count(), 1);

    drop(lock);

    assert_eq!(std::fs::read_dir(&locks).unwrap().count(), 0);
}

#[tokio::test]
async fn while_another_process_writes_a_commit_waits_and_then_fails_whole() {
    let folder = Folder::new();
    let patient = SqliteSaver::open(folder.file()).await.unwrap();
    let hasty = SqliteSaver::builder(folder.file()).time_limit(Duration::from_millis(50));
    let hasty = hasty.open().await.unwrap();
    let mut other = raw(&folder).await;
    let writing = other.begin_with("BEGIN EXCLUSIVE").await.unwrap();

    let refused = hasty.commit("t1", adds(0, "k1", None, b"")).await;
    drop(writing);
    other.close().await.unwrap();
    let made = patient.commit("t1", adds(0, "k1", None, b"")).await;

    let refused = refused.unwrap_err();
    assert!(matches!(&refused, SaverError::Unavailable { thread, .. } if thread == "t1"));
    assert!(refused.is_retryable());
    made.unwrap();
    let thread = patient.load("t1", None).await.unwrap().unwrap();
    assert_eq!((thread.version, thread.chain.len()), (1, 1));
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_by_its_name() {
    let folder = Folder::new();
    std::fs::write(folder.file(), "a letter to the editor, not a database").unwrap();

    let refused = SqliteSaver::open(folder.file()).await.unwrap_err();

    assert!(
        chain(&refused).contains("threads.db"),
        "{}",
        chain(&refused)
    );
    assert!(
        chain(&refused).contains("not a database"),
        "{}",
        chain(&refused)
    );
    let kept = std::fs::read_to_string(folder.file()).unwrap();
    assert_eq!(kept, "a letter to the editor, not a database");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_an_error_and_is_not_made() {
    let folder = Folder::new();
    let path = folder.0.join("missing/threads.db");

    let refused = SqliteSaver::open(&path).await.unwrap_err();

    assert!(matches!(refused, StoreError::Open { .. }));
    assert!(!path.parent().unwrap().exists());
}

#[tokio::test]
async fn tables_of_a_newer_version_are_refused_and_left_alone() {
    let folder = Folder::new();
    drop(SqliteSaver::open(folder.file()).await.unwrap());
    let mut newer = raw(&folder).await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (99, 'agent-store', 1, x'00', 0)",
    )
    .execute(&mut newer)
    .await
    .unwrap();
    newer.close().await.unwrap();

    let refused = SqliteSaver::open(folder.file()).await.unwrap_err();

    assert!(
        matches!(refused, StoreError::TooNew { version: 99, .. }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_commit_without_room_fails_whole_and_the_thread_goes_on() {
    let folder = Folder::new();
    let saver = SqliteSaver::builder(folder.file()).max_bytes(1 << 20);
    let saver = saver.open().await.unwrap();
    let first = adds(0, "k1", None, b"first");
    saver.commit("t1", first).await.unwrap();

    let huge = adds(1, "k2", Some("k1"), &vec![7; 2 << 20]);
    let refused = saver.commit("t1", huge).await;
    let small = adds(1, "k2", Some("k1"), b"small");
    let made = saver.commit("t1", small).await;

    let refused = refused.unwrap_err();
    assert!(chain(&refused).contains("full"), "{}", chain(&refused));
    made.unwrap();
    let thread = saver.load("t1", None).await.unwrap().unwrap();
    assert_eq!((thread.version, thread.chain.len()), (2, 2));
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_one_store_whichever_way_leads_to_it() {
    let folder = Folder::new();
    let saver = SqliteSaver::open(folder.file()).await.unwrap();
    let link = folder.0.join("link.db");
    std::os::unix::fs::symlink(folder.file(), &link).unwrap();
    let linked = SqliteSaver::open(&link).await.unwrap();

    let lock = saver.lock("t1").await.unwrap();
    let refused = linked.lock("t1").await.unwrap_err();
    drop(lock);

    assert!(matches!(refused, SaverError::Busy { .. }), "{refused:?}");
    drop(linked.lock("t1").await.unwrap());
}

#[tokio::test]
async fn what_is_no_file_is_refused() {
    // SQLite takes them for databases in memory.
    for path in ["", ":memory:"] {
        let refused = SqliteSaver::open(path).await;

        assert!(matches!(refused, Err(StoreError::Setting { .. })), "{path}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn no_run_begins_on_a_file_that_was_removed_or_replaced() {
    let folder = Folder::new();
    let saver = SqliteSaver::open(folder.file()).await.unwrap();
    drop(saver.lock("t1").await.unwrap());

    std::fs::rename(folder.file(), folder.0.join("old.db")).unwrap();
    let removed = saver.lock("t1").await.unwrap_err();
    let other = SqliteSaver::open(folder.file()).await.unwrap();
    let replaced = saver.lock("t1").await.unwrap_err();

    for refused in [removed, replaced] {
        let text = chain(&refused);
        assert!(text.contains("removed or replaced"), "{text}");
    }
    drop(other.lock("t1").await.unwrap());
}

#[tokio::test]
async fn limits_at_their_ends_are_limits() {
    let folder = Folder::new();
    let endless = SqliteSaver::builder(folder.file()).time_limit(Duration::MAX);
    let saver = endless.open().await.unwrap();
    let made = saver.commit("t1", adds(0, "k1", None, b"first")).await;
    made.unwrap();
    for bytes in [0, 1, 4_095] {
        let tiny = folder.0.join(format!("{bytes}.db"));

        let refused = SqliteSaver::builder(tiny).max_bytes(bytes).open().await;

        assert!(refused.is_err(), "{bytes}");
    }
}

#[tokio::test]
async fn rows_that_make_no_thread_are_refused_and_left_alone() {
    for (broken, says) in [
        ("UPDATE agent_checkpoint SET parent = id", "`k2`"),
        (
            "UPDATE agent_checkpoint SET parent = 'k2' WHERE id = 'k1'",
            "`k2`",
        ),
        ("UPDATE agent_thread SET version = -1", "version -1"),
        (
            "UPDATE agent_thread SET version = 9223372036854775807",
            "version 9223372036854775807",
        ),
    ] {
        let folder = Folder::new();
        let saver = SqliteSaver::open(folder.file()).await.unwrap();
        for (version, id, parent) in [(0, "k1", None), (1, "k2", Some("k1"))] {
            let made = saver.commit("t1", adds(version, id, parent, b"")).await;
            made.unwrap();
        }
        let mut raw = raw(&folder).await;
        sqlx::query(broken).execute(&mut raw).await.unwrap();

        let refused = saver.load("t1", None).await.unwrap_err();

        let text = chain(&refused);
        assert!(text.contains(says), "{broken}: {text}");
        let version = if broken.contains("9223") {
            u64::MAX >> 1
        } else {
            0
        };
        let added = saver.commit("t1", adds(version, "k3", None, b"")).await;
        assert!(added.is_err(), "{broken}");
    }
}
