//! One event of a run: what happened, to whom, and as which of all.

use std::sync::Arc;

use super::EventKind;

/// One event of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentEvent {
    /// Position in the run, from 1.
    pub sequence: u64,
    /// The agent that speaks: the run's own, or one that runs within a tool call of it.
    pub agent: Arc<str>,
    /// What happened.
    pub kind: EventKind,
}

impl AgentEvent {
    pub(crate) fn new(sequence: u64, agent: Arc<str>, kind: EventKind) -> Self {
        Self {
            sequence,
            agent,
            kind,
        }
    }
}
