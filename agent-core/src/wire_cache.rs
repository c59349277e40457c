//! Text that is made once per provider profile and then shared.
//!
//! A tool list or a message never changes, so every later request sends the same bytes. What a
//! history has written of a message stands there, and here only once somebody else asks for it.

use std::sync::{Arc, OnceLock};

/// What a text was made for: a wire format, and what else it depends on.
type Profile = [&'static str; 2];

/// Mostly these are the very same texts, which is told without reading them.
fn is_same(one: Profile, other: Profile) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.all(|(one, other)| std::ptr::eq(*one, other) || *one == other)
}

/// Wire texts by profile: a handful at most, mostly one, and none is ever taken out. So it is a
/// chain that is read without a lock, by every request for every message of its history.
#[derive(Default)]
pub(crate) struct WireCache(OnceLock<Box<Written>>);

struct Written {
    profile: Profile,
    text: Arc<str>,
    next: WireCache,
}

impl WireCache {
    /// True if nothing was made so far.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }

    /// The text for `profile`, made by `make` the first time it is asked for.
    ///
    /// Of two racing callers the first result is kept.
    pub(crate) fn get_or_make(&self, profile: Profile, make: impl FnOnce() -> String) -> &Arc<str> {
        let mut make = Some(make);
        let mut cache = self;
        loop {
            let written = cache.0.get_or_init(|| {
                let text = make.take().map_or_else(String::new, |make| make());
                Box::new(Written {
                    profile,
                    text: text.into(),
                    next: Self::default(),
                })
            });
            if is_same(written.profile, profile) {
                return &written.text;
            }
            cache = &written.next;
        }
    }
}
