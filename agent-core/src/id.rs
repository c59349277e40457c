//! Makes ids that are unique in this process and unlikely to meet in two.
//!
//! Not random enough to be a secret; they only tell things apart.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("agent-core"));
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A fresh id, for example `msg_5f0e1c9a7b3d2e4f_1a`.
pub(crate) fn next(prefix: &str) -> String {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}_{:016x}_{count:x}", *SEED)
}
