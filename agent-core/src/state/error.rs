//! Why a state cannot be read or changed.

use crate::boxed::BoxError;
use crate::message::TranscriptError;

/// Why a state cannot be read or changed. A failed change leaves the state as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The value of a key does not fit the type it is read as.
    #[error("value of key `{key}` is no `{expected}`")]
    WrongType {
        /// The key that was read.
        key: String,
        /// The name of the Rust type it was read as.
        expected: &'static str,
        /// What does not fit.
        source: BoxError,
    },
    /// A value cannot be written as JSON.
    #[error("value for key `{key}` cannot be written as JSON")]
    Serialize {
        /// The key that was to be written.
        key: String,
        /// What cannot be written.
        source: BoxError,
    },
    /// The key belongs to the framework and holds no plain value.
    #[error("key `{key}` is reserved and holds no plain value")]
    ReservedKey {
        /// The reserved key.
        key: String,
    },
    /// [`KeyStrategy::Merge`](super::KeyStrategy::Merge) met an object on one side and
    /// something else on the other.
    #[error("values of key `{key}` cannot be merged: only one of them is an object at `{path}`")]
    Merge {
        /// The key that was to be written.
        key: String,
        /// Where in the value, as a JSON pointer; empty for the value itself.
        path: String,
    },
    /// A custom key strategy refused the new value, or panicked.
    #[error("the strategy of key `{key}` refused the new value")]
    Strategy {
        /// The key that was to be written.
        key: String,
        /// Why it was refused.
        source: BoxError,
    },
    /// The messages would not pair tool calls and results.
    #[error("the messages do not fit the history")]
    Transcript {
        /// What does not fit.
        #[from]
        source: TranscriptError,
    },
}
