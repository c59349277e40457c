//! Text that is made once per provider profile and then shared.
//!
//! A message or a tool list never changes, so its wire form is written once and every
//! later request sends the same bytes.

use std::sync::{Arc, Mutex, PoisonError};

/// What a text was made for: a wire format, and what else it depends on.
type Profile = [&'static str; 2];

/// Wire texts by profile; a handful at most, so a list is enough.
#[derive(Default)]
pub(crate) struct WireCache {
    texts: Mutex<Vec<(Profile, Arc<str>)>>,
}

impl WireCache {
    /// The text for `profile`, made by `make` the first time it is asked for.
    ///
    /// `make` runs outside the lock; of two racing callers the first result is kept.
    pub(crate) fn get_or_make(&self, profile: Profile, make: impl FnOnce() -> String) -> Arc<str> {
        if let Some(text) = self.find(profile) {
            return text;
        }
        let made: Arc<str> = make().into();
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = texts.iter().find(|(name, _)| *name == profile) {
            return Arc::clone(text);
        }
        texts.push((profile, Arc::clone(&made)));
        made
    }

    fn find(&self, profile: Profile) -> Option<Arc<str>> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts
            .iter()
            .find(|(name, _)| *name == profile)
            .map(|(_, text)| Arc::clone(text))
    }
}
