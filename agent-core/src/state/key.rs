//! The typed name of a state key.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The name of a key of the state, with the type of its value.
///
/// ```
/// use agent_core::graph::StateKey;
///
/// pub const SCORES: StateKey<Vec<i32>> = StateKey::new("scores");
/// assert_eq!(SCORES.name(), "scores");
/// ```
pub struct StateKey<T> {
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> StateKey<T> {
    /// A key of this name. The name `messages` is reserved: reading or writing it as a
    /// value is an error.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            value: PhantomData,
        }
    }

    /// The name of the key.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T> Clone for StateKey<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for StateKey<T> {}

impl<T> fmt::Debug for StateKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StateKey").field(&self.name).finish()
    }
}

impl<T> From<StateKey<T>> for Arc<str> {
    fn from(key: StateKey<T>) -> Self {
        key.name.into()
    }
}
