//! What is kept of a run so that it can go on later: after an answer, after a crash, with the
//! next message.
//!
//! A thread is a row of checkpoints. Each holds what one step added to the state, and what comes
//! next; between two of them, what a step has done so far is written at once: a call that
//! started, a call that ended, a branch that has gone on. So a step costs what it adds, however
//! long the thread is, and nothing that was done is done again.
//!
//! A [`CheckpointSaver`] keeps the bytes; [`MemorySaver`] is the one here. Whoever writes
//! another one runs [`conformance::check`] on it.

mod durability;
mod error;
mod failed;
mod format;
mod history;
mod journal;
mod listed;
mod load;
mod memory;
mod open;
pub(crate) mod record;
mod recorder;
mod running;
mod same;
mod saver;
mod step;

pub mod conformance;

pub use durability::Durability;
pub use error::CheckpointError;
pub(crate) use history::NESTED;
pub use history::Threads;
pub use listed::Checkpoint;
pub(in crate::graph) use load::Loaded;
pub use memory::MemorySaver;
pub(crate) use recorder::{Opened, Recorder};
pub use running::RunningThreads;
pub use saver::{
    CheckpointId, CheckpointSaver, Commit, SaverError, StoredCheckpoint, StoredThread,
    ThreadChange, ThreadLock,
};
pub(in crate::graph) use step::Step;

#[cfg(test)]
mod tests;
