//! The checks, each on a thread of its own.

use std::sync::Arc;

use futures_util::future::join_all;

use super::super::{
    CheckpointId, Commit, SaverError, StoredCheckpoint, StoredThread, ThreadChange,
};
use super::{Tried, Violation, checkpoint, ids};

pub(super) async fn nothing_there(tried: Tried) -> Result<(), Violation> {
    let loaded = tried.ok("loading", tried.saver.load(&tried.thread, None).await)?;
    tried.same("what is loaded", &loaded, &None)?;
    let at = CheckpointId::new("k1");
    let loaded = tried.saver.load(&tried.thread, Some(&at)).await;
    let loaded = tried.ok("loading a checkpoint", loaded)?;
    tried.same("what is loaded at a checkpoint", &loaded, &None)?;
    tried.same("the list", &tried.listed(None, 10).await?, &Vec::new())?;
    let deleted = tried.ok("deleting", tried.saver.delete(&tried.thread).await)?;
    tried.same("what deleting says", &deleted, &false)
}

pub(super) async fn round_trip(mut tried: Tried) -> Result<(), Violation> {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let payloads = [
        Vec::new(),
        all_bytes,
        vec![7; 1 << 20],
        b"\0\0{\0}".to_vec(),
    ];
    let mut chain: Vec<StoredCheckpoint> = Vec::new();
    for (position, payload) in payloads.iter().enumerate() {
        let added = StoredCheckpoint {
            id: CheckpointId::new(format!("k{position}")),
            parent: chain.last().map(|last| last.id.clone()),
            payload: payload.as_slice().into(),
        };
        chain.push(added.clone());
        tried.commit(ThreadChange::Checkpoint(added)).await?;
    }
    let writes: Vec<Arc<[u8]>> = payloads.iter().map(|it| it.as_slice().into()).collect();
    tried.commit(ThreadChange::Writes(writes.clone())).await?;
    let thread = tried.thread_there().await?;
    tried.same("the version", &thread.version, &5)?;
    tried.same("the chain", &ids(&thread.chain), &ids(&chain))?;
    if thread.chain != chain || thread.writes != writes {
        return Err(tried.violated("bytes came back changed".to_owned()));
    }
    tried.end().await
}

pub(super) async fn conflicts(mut tried: Tried) -> Result<(), Violation> {
    tried.add("k1", None).await?;
    tried.add("k2", Some("k1")).await?;
    let before = tried.thread_there().await?;
    for expected in [0, 1, 3, u64::from(u32::MAX)] {
        let changes = [
            ThreadChange::Checkpoint(checkpoint("k3", Some("k2"))),
            ThreadChange::Writes(vec![b"late".as_slice().into()]),
            ThreadChange::Compact {
                base: checkpoint("k2", None),
                keep: Vec::new(),
            },
        ];
        for change in changes {
            let commit = Commit { expected, change };
            let late = tried.saver.commit(&tried.thread, commit).await;
            let numbers = (expected, 2);
            tried.fails("a commit for another version", late, |error| {
                matches!(error, SaverError::Conflict { expected, found, .. } if (*expected, *found) == numbers)
            })?;
        }
    }
    tried.same("the thread", &tried.thread_there().await?, &before)?;
    let elsewhere = crate::id::next("conformance");
    let commit = Commit {
        expected: 1,
        change: ThreadChange::Checkpoint(checkpoint("k1", None)),
    };
    let early = tried.saver.commit(&elsewhere, commit).await;
    tried.fails("a commit to a thread that is not there", early, |error| {
        matches!(error, SaverError::Conflict { found: 0, .. })
    })?;
    tried.end().await
}

pub(super) async fn writes(mut tried: Tried) -> Result<(), Violation> {
    tried.add("k1", None).await?;
    let write = |text: &str| -> Arc<[u8]> { text.as_bytes().into() };
    let all = [write("a"), write("b"), write("a"), write("c")];
    tried
        .commit(ThreadChange::Writes(vec![all[0].clone(), all[1].clone()]))
        .await?;
    tried
        .commit(ThreadChange::Writes(vec![all[2].clone()]))
        .await?;
    tried
        .commit(ThreadChange::Writes(vec![all[3].clone()]))
        .await?;
    let thread = tried.thread_there().await?;
    tried.same("the writes", thread.writes.as_slice(), &all)?;
    tried.same("the version", &thread.version, &4)?;
    tried.add("k2", Some("k1")).await?;
    let thread = tried.thread_there().await?;
    tried.same("the writes after the next", &thread.writes, &Vec::new())?;
    tried
        .commit(ThreadChange::Writes(vec![all[0].clone()]))
        .await?;
    let earlier = CheckpointId::new("k1");
    let earlier = tried.saver.load(&tried.thread, Some(&earlier)).await;
    let earlier = tried.ok("loading an earlier one", earlier)?;
    let earlier = earlier.map(|thread| (thread.version, thread.writes));
    tried.same("an earlier one", &earlier, &Some((6, Vec::new())))?;
    tried.end().await
}

pub(super) async fn misfits(mut tried: Tried) -> Result<(), Violation> {
    tried.add("k1", None).await?;
    let before = tried.thread_there().await?;
    let commit = |id: &str, parent: &str| Commit {
        expected: 1,
        change: ThreadChange::Checkpoint(checkpoint(id, Some(parent))),
    };
    let again = tried.saver.commit(&tried.thread, commit("k1", "k1")).await;
    tried.fails(
        "a checkpoint of an id that is there",
        again,
        |error| matches!(error, SaverError::DuplicateCheckpoint { id, .. } if id.as_str() == "k1"),
    )?;
    let orphan = tried.saver.commit(&tried.thread, commit("k2", "k9")).await;
    tried.fails(
        "a checkpoint without its parent",
        orphan,
        |error| matches!(error, SaverError::UnknownCheckpoint { id, .. } if id.as_str() == "k9"),
    )?;
    let unknown = CheckpointId::new("k9");
    let loaded = tried.saver.load(&tried.thread, Some(&unknown)).await;
    tried.fails("loading a checkpoint that is not there", loaded, |error| {
        matches!(error, SaverError::UnknownCheckpoint { .. })
    })?;
    tried.same("the thread", &tried.thread_there().await?, &before)?;
    tried.end().await
}

pub(super) async fn branches(mut tried: Tried) -> Result<(), Violation> {
    tried.add("k1", None).await?;
    tried.add("k2", Some("k1")).await?;
    tried.add("k3", Some("k1")).await?;
    let thread = tried.thread_there().await?;
    tried.same("the head's chain", &*ids(&thread.chain), &["k1", "k3"])?;
    for (at, expected) in [("k1", &["k1"][..]), ("k2", &["k1", "k2"])] {
        let id = CheckpointId::new(at);
        let loaded = tried.saver.load(&tried.thread, Some(&id)).await;
        let loaded = tried.ok("loading a checkpoint", loaded)?;
        let chain = loaded.map_or_else(Vec::new, |thread| thread.chain);
        tried.same("the chain of another", &*ids(&chain), expected)?;
    }
    tried.end().await
}

pub(super) async fn listing(mut tried: Tried) -> Result<(), Violation> {
    for (id, parent) in [
        ("z", None),
        ("y", Some("z")),
        ("a", Some("z")),
        ("m", Some("a")),
    ] {
        tried.add(id, parent).await?;
        let write = ThreadChange::Writes(vec![id.as_bytes().into()]);
        tried.commit(write).await?;
    }
    let all = tried.listed(None, 10).await?;
    tried.same("the list", &*ids(&all), &["m", "a", "y", "z"])?;
    tried.same("its last but one", &all[2], &checkpoint("y", Some("z")))?;
    tried.same(
        "the first two",
        &*ids(&tried.listed(None, 2).await?),
        &["m", "a"],
    )?;
    let before = tried.listed(Some("a"), 1).await?;
    tried.same("one before another", &*ids(&before), &["y"])?;
    let before = tried.listed(Some("z"), 5).await?;
    tried.same("all before the first", &before, &Vec::new())?;
    let unknown = CheckpointId::new("k9");
    let listed = tried.saver.list(&tried.thread, Some(&unknown), 5).await;
    tried.fails("a list before what is not there", listed, |error| {
        matches!(error, SaverError::UnknownCheckpoint { .. })
    })?;
    tried.end().await
}

pub(super) async fn compaction(mut tried: Tried) -> Result<(), Violation> {
    tried.add("k1", None).await?;
    tried.add("k2", Some("k1")).await?;
    tried.add("k3", Some("k2")).await?;
    tried.add("k4", Some("k3")).await?;
    tried
        .commit(ThreadChange::Writes(vec![b"w".as_slice().into()]))
        .await?;
    let base = StoredCheckpoint {
        payload: b"the whole".as_slice().into(),
        ..checkpoint("k3", None)
    };
    let keep = vec![CheckpointId::new("k4")];
    let compact = ThreadChange::Compact {
        base: base.clone(),
        keep,
    };
    tried.commit(compact).await?;
    let thread = tried.thread_there().await?;
    let expected = StoredThread {
        version: 6,
        chain: vec![base, checkpoint("k4", Some("k3"))],
        writes: vec![b"w".as_slice().into()],
    };
    tried.same("the thread", &thread, &expected)?;
    let listed = tried.listed(None, 10).await?;
    tried.same("the list", &*ids(&listed), &["k4", "k3"])?;
    let missing = ThreadChange::Compact {
        base: checkpoint("k4", None),
        keep: vec![CheckpointId::new("k9")],
    };
    let commit = Commit {
        expected: 6,
        change: missing,
    };
    let kept = tried.saver.commit(&tried.thread, commit).await;
    tried.fails("keeping what is not there", kept, |error| {
        matches!(error, SaverError::UnknownCheckpoint { .. })
    })?;
    tried.same("the thread", &tried.thread_there().await?, &expected)?;
    tried.end().await
}

pub(super) async fn deletion(mut tried: Tried) -> Result<(), Violation> {
    tried.add("k1", None).await?;
    tried
        .commit(ThreadChange::Writes(vec![b"w".as_slice().into()]))
        .await?;
    let deleted = tried.ok("deleting", tried.saver.delete(&tried.thread).await)?;
    tried.same("what deleting says", &deleted, &true)?;
    let loaded = tried.ok("loading", tried.saver.load(&tried.thread, None).await)?;
    tried.same("what is loaded", &loaded, &None)?;
    tried.version = 0;
    tried.add("k1", None).await?;
    let thread = tried.thread_there().await?;
    tried.same("the version", &thread.version, &1)?;
    tried.same("the writes", &thread.writes, &Vec::new())?;
    tried.end().await
}

pub(super) async fn names(tried: Tried) -> Result<(), Violation> {
    let fresh = &tried.thread;
    let names = [
        fresh.clone(),
        fresh.to_uppercase(),
        format!("{fresh} "),
        format!(" {fresh}"),
        format!("{fresh}%"),
        format!("{}_", &fresh[..fresh.len() - 1]),
        format!("../{fresh}"),
        format!("{fresh}/../x"),
        format!("C:\\{fresh}"),
        format!("{fresh}'; drop table checkpoints; --\""),
        format!("{fresh}\u{e9}"),
        format!("{fresh}e\u{301}"),
        format!("{fresh}\u{1f980}{{}}$1?"),
        format!("{fresh}{}", "x".repeat(900)),
    ];
    for (position, name) in names.iter().enumerate() {
        let change = ThreadChange::Checkpoint(checkpoint(&format!("k{position}"), None));
        let commit = Commit {
            expected: 0,
            change,
        };
        tried.ok("a commit", tried.saver.commit(name, commit).await)?;
    }
    for (position, name) in names.iter().enumerate() {
        let loaded = tried.ok("loading", tried.saver.load(name, None).await)?;
        let chain = loaded.map_or_else(Vec::new, |thread| thread.chain);
        let expected = format!("k{position}");
        tried.same(&format!("`{name}`"), &*ids(&chain), &[expected.as_str()])?;
        tried.ok("deleting", tried.saver.delete(name).await)?;
    }
    Ok(())
}

pub(super) async fn naming(tried: Tried) -> Result<(), Violation> {
    let fresh = &tried.thread;
    let names = [
        "",
        "/",
        "/B",
        "/_",
        "/a",
        "/a/1",
        "/b",
        "\u{e9}",
        "\u{1f980}",
    ];
    let names = names.map(|name| format!("{fresh}{name}"));
    for name in names.iter().rev() {
        let change = ThreadChange::Checkpoint(checkpoint("k1", None));
        let commit = Commit {
            expected: 0,
            change,
        };
        tried.ok("a commit", tried.saver.commit(name, commit).await)?;
    }
    let behind = format!("{fresh}/Z");
    let (within, upper) = (format!("{fresh}/"), fresh.to_uppercase());
    let cases = [
        (fresh.as_str(), None, 100, 0..9),
        (fresh, None, 4, 0..4),
        (fresh, Some(names[3].as_str()), 4, 4..8),
        (fresh, Some(&names[8]), 4, 9..9),
        (&within, None, 100, 1..7),
        (&within, Some(&behind), 2, 3..5),
        (&within, Some(fresh), 100, 1..7),
        (&upper, None, 100, 9..9),
    ];
    for (prefix, after, limit, expected) in cases {
        let found = tried.saver.names(prefix, after, limit).await;
        let found = tried.ok("listing threads", found)?;
        let asked = format!("{limit} threads of `{prefix}` after {after:?}");
        tried.same(&asked, &*found, &names[expected])?;
    }
    for name in &names {
        tried.ok("deleting", tried.saver.delete(name).await)?;
    }
    let left = tried.ok("listing", tried.saver.names(fresh, None, 10).await)?;
    tried.same("what is left", &left, &Vec::new())
}

pub(super) async fn locks(mut tried: Tried) -> Result<(), Violation> {
    let lock = tried.ok("a lock", tried.saver.lock(&tried.thread).await)?;
    let second = tried.saver.lock(&tried.thread).await;
    tried.fails("a second lock", second, |error| {
        matches!(error, SaverError::Busy { .. })
    })?;
    let other = format!("{}-2", tried.thread);
    let elsewhere = tried.ok("a lock of another", tried.saver.lock(&other).await)?;
    // A lock is no hindrance to its holder.
    tried.add("k1", None).await?;
    tried.thread_there().await?;
    drop((lock, elsewhere));
    tried.free_again().await?;
    tried.end().await
}

pub(super) async fn race(mut tried: Tried) -> Result<(), Violation> {
    tried.add("k0", None).await?;
    let commits = (1..=8).map(|number| {
        let change = ThreadChange::Checkpoint(checkpoint(&format!("k{number}"), Some("k0")));
        let commit = Commit {
            expected: 1,
            change,
        };
        tried.saver.commit(&tried.thread, commit)
    });
    let ended = join_all(commits).await;
    let made = ended.iter().filter(|end| end.is_ok()).count();
    tried.same("how many were made", &made, &1)?;
    for end in ended.into_iter().filter(Result::is_err) {
        tried.fails("one that was not made", end, |error| {
            matches!(error, SaverError::Conflict { .. })
        })?;
    }
    let thread = tried.thread_there().await?;
    tried.same("the version", &thread.version, &2)?;
    tried.same("the length of the chain", &thread.chain.len(), &2)?;
    tried.end().await
}
