//! Makes ids that are unique in this process and unlikely to meet in two.
//!
//! Not random enough to be a secret; they only tell things apart.

use smol_str::SmolStr;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What stands between prefix and number, `_5f0e1c9a7b3d2e4f_`; written once, as ids are many.
static SEED: LazyLock<String> =
    LazyLock::new(|| format!("_{:016x}_", RandomState::new().hash_one("agent-core")));
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// So many ids are faster compared than hashed.
pub(crate) const FEW: usize = 16;

/// True if the text is an id that [`next`] made for this prefix, here or in another process.
pub(crate) fn is(text: &str, prefix: &str) -> bool {
    let parts = text
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('_')?.split_once('_'));
    let is_hex = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
    parts.is_some_and(|(seed, count)| seed.len() == 16 && is_hex(seed) && is_hex(count))
}

/// Gives a fresh id to each item that has none, or one that an item before it has.
pub(crate) fn make_unique<T>(items: &mut [T], prefix: &str, id: impl Fn(&mut T) -> &mut SmolStr) {
    if items.len() > FEW {
        let mut seen: HashSet<&str> = HashSet::with_capacity(items.len());
        for item in items {
            let id = id(item);
            if id.is_empty() || seen.contains(id.as_str()) {
                *id = next(prefix).into();
            }
            seen.insert(id);
        }
        return;
    }
    for position in 0..items.len() {
        let (before, rest) = items.split_at_mut(position);
        let Some(item) = rest.first_mut() else {
            return;
        };
        let own = id(item);
        if own.is_empty() || before.iter_mut().any(|other| id(other) == own) {
            *own = next(prefix).into();
        }
    }
}

/// A fresh id, for example `msg_5f0e1c9a7b3d2e4f_1a`.
pub(crate) fn next(prefix: &str) -> String {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let seed = SEED.as_str();
    let mut id = String::with_capacity(prefix.len() + seed.len() + 16);
    id.push_str(prefix);
    id.push_str(seed);
    // Writing to a string cannot fail.
    let _ = write!(id, "{count:x}");
    id
}
