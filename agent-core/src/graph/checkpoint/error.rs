//! Why a thread cannot be read, written or resumed.

use super::SaverError;
use crate::boxed::BoxError;
use crate::state::StateError;

/// Why a thread cannot be read, written or resumed. What was stored is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the fields are the names the message holds, and sources"
)]
pub enum CheckpointError {
    /// The store did not do what it was asked.
    #[error("the checkpoint store refused")]
    Saver(#[from] SaverError),
    /// A run of a thread has no store to keep it in.
    #[error("thread `{thread}` needs a saver, and there is none")]
    NoSaver { thread: String },
    /// A name that no thread can have: empty, longer than 1,024 bytes, or with control
    /// characters. That of an agent inside of a tool call has the outer one in front, and goes to
    /// 2,560 bytes.
    #[error("`{}` is no name of a thread", .thread.escape_debug())]
    InvalidThread { thread: String },
    /// There is no such thread.
    #[error("there is no thread `{thread}`")]
    ThreadNotFound { thread: String },
    /// What is stored is broken: it was cut, or holds what its version does not have.
    #[error("`{key}` of thread `{thread}` cannot be read")]
    Decode {
        thread: String,
        /// The id of the checkpoint, or the place of the write.
        key: String,
        source: BoxError,
    },
    /// What is stored was written by a newer version of this crate.
    #[error(
        "`{key}` of thread `{thread}` has format {found}; {supported} is the newest known here"
    )]
    UnsupportedVersion {
        thread: String,
        key: String,
        found: u64,
        supported: u64,
    },
    /// A value has no form that can be stored.
    #[error("thread `{thread}` cannot be written")]
    Encode { thread: String, source: StateError },
    /// The thread goes on at a node that the graph does not have.
    #[error("thread `{thread}` goes on at node `{node}`, which the graph does not have")]
    GraphMismatch { thread: String, node: String },
    /// The thread waits for answers, so that nothing new can begin.
    #[error("thread `{thread}` waits for answers to {}", list(.interrupts))]
    Pending {
        thread: String,
        /// The ids of the interrupts.
        interrupts: Vec<String>,
    },
    /// The thread stopped before its end, so that nothing new can begin.
    #[error("the last run of thread `{thread}` did not end; resume it first")]
    Unfinished { thread: String },
    /// The last run of the thread ended.
    #[error("thread `{thread}` has nothing to resume: its last run ended")]
    NothingToResume { thread: String },
    /// No interrupt of the thread has this id.
    #[error("thread `{thread}` has no interrupt `{id}`")]
    InterruptNotFound { thread: String, id: String },
    /// The interrupt was answered, and the step that read the answer is written down.
    #[error("interrupt `{id}` of thread `{thread}` was answered before")]
    AlreadyAnswered { thread: String, id: String },
    /// Two answers to one interrupt.
    #[error("there are two answers to interrupt `{id}`")]
    AnsweredTwice { id: String },
    /// The answer does not fit what was asked, or is not of the type its reader asked for. The
    /// step did not happen, and the interrupt can be answered again.
    #[error("the answer to interrupt `{id}` does not fit")]
    InvalidAnswer { id: String, source: BoxError },
}

fn list(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(", ")
}

impl CheckpointError {
    /// True if the same call may succeed later without a change.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Saver(error) if error.is_retryable())
    }

    /// True if somebody else uses the thread, or changed it meanwhile.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::Saver(SaverError::Busy { .. } | SaverError::Conflict { .. })
        )
    }
}
