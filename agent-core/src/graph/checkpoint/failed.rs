//! Why the commits of a run are over: told to each step and call that comes later.

use std::error::Error;

use super::{CheckpointError, SaverError};
use crate::boxed::told;

/// What a commit failed with. The error itself goes to whoever waited for the commit.
pub(super) enum Failed {
    Conflict { expected: u64, found: u64 },
    Other(String),
}

impl Failed {
    pub(super) fn commit(error: &SaverError) -> Self {
        match *error {
            SaverError::Conflict {
                expected, found, ..
            } => Self::Conflict { expected, found },
            // Its own words would name the thread once more.
            SaverError::Unavailable { ref source, .. } => Self::of(&**source),
            ref error => Self::of(error),
        }
    }

    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        Self::Other(told(error))
    }

    pub(super) fn error(&self, thread: &str) -> CheckpointError {
        let thread = thread.to_owned();
        CheckpointError::Saver(match self {
            Self::Conflict { expected, found } => SaverError::Conflict {
                thread,
                expected: *expected,
                found: *found,
            },
            Self::Other(why) => SaverError::Unavailable {
                thread,
                source: format!("an earlier commit of this run failed: {why}").into(),
            },
        })
    }
}
