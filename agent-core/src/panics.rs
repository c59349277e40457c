//! Keeps the panics of code that is not ours from going on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `f` gives; `None` if it panicked.
pub(crate) fn caught<T>(f: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(f)).map_err(forget).ok()
}

/// Drops what code of others left behind, whose drop may panic.
pub(crate) fn let_go<T>(left: T) {
    if caught(|| drop(left)).is_none() {
        tracing::error!("what was left behind panicked when it was dropped");
    }
}

/// Lets go of what a panic was told with.
pub(crate) fn forget(payload: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Its own drop may be what panics, for ever.
        std::mem::forget(again);
    }
}
