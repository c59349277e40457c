//! What a checkpoint and a write say, once they are read.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::same::Item;
use crate::message::Message;
use crate::state::StateUpdate;
use crate::state::delta::StateDelta;

/// A checkpoint: what was added since its parent, and what comes next.
#[derive(Debug, Clone)]
pub(in crate::graph) struct Record {
    /// How many steps the thread has taken.
    pub(in crate::graph) step: u64,
    pub(in crate::graph) created: SystemTime,
    /// The nodes that ran since the parent, in order.
    pub(in crate::graph) ran: Vec<String>,
    /// `None` if it is what came next at the parent.
    pub(in crate::graph) next: Option<Frontier>,
    pub(in crate::graph) delta: StateDelta,
    /// What was asked, and is as long as somebody waits for an answer.
    pub(in crate::graph) interrupts: Vec<Item<Arc<Asked>>>,
    /// What of the steps that are not over was written down already.
    pub(in crate::graph) journal: Vec<Item<Entry>>,
    /// What the nodes did outside that counts each time, for example the names of tools.
    pub(in crate::graph) effects: Vec<String>,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::graph) enum Frontier {
    Node(String),
    End,
    /// Branches that run side by side.
    Branches {
        /// The node after which they part, or the start.
        from: String,
        branches: Vec<Branch>,
        /// Where they meet: a node, or the end.
        join: String,
    },
}

impl Frontier {
    /// True if it is said as fast as that it is the same as before.
    pub(super) fn is_short(&self) -> bool {
        !matches!(self, Self::Branches { .. })
    }
}

/// The beginning of a branch.
#[derive(Debug, Clone)]
pub(in crate::graph) struct Branch {
    /// Its first node, or where the branches meet.
    pub(in crate::graph) node: String,
    /// What this branch alone is told.
    pub(in crate::graph) input: Option<StateUpdate>,
}

impl PartialEq for Branch {
    /// Inputs are not compared: they follow from the state.
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

/// A pause that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::graph) struct Asked {
    pub(in crate::graph) id: String,
    /// The node, with the way to it through branches and sub-graphs.
    pub(in crate::graph) node: String,
    /// Which of the node's questions it is.
    pub(in crate::graph) key: String,
    pub(in crate::graph) payload: Value,
    /// What the node needs to know of it later.
    pub(in crate::graph) about: Value,
    /// True if it only holds the run, and asks nothing.
    pub(in crate::graph) is_breakpoint: bool,
}

/// The key of a pause behind a node, which has ended.
pub(in crate::graph) const AFTER: &str = "after";

impl Asked {
    /// True if the run only stopped behind the node.
    pub(in crate::graph) fn is_after(&self) -> bool {
        self.is_breakpoint && self.key == AFTER
    }
}

/// What is written down while steps go on.
#[derive(Debug, Clone)]
pub(in crate::graph) enum Entry {
    /// An interrupt was answered.
    Answer {
        id: String,
        value: Value,
        /// True if a step that read it is written down.
        is_read: bool,
    },
    /// What a node noted.
    Note(Note),
    /// A node of a branch, or of a sub-graph, has ended.
    Ended {
        /// The branch.
        path: String,
        node: String,
        update: StateUpdate,
        /// What comes next in the branch; `None` if it pauses where it stood.
        next: Option<Frontier>,
        /// What was asked that is not known yet.
        interrupts: Vec<Arc<Asked>>,
    },
}

/// In place of a node, for messages from outside that the run has not read.
pub(in crate::graph) const MAIL: &str = "__MAIL__";

impl Entry {
    /// The messages from outside that this keeps.
    pub(in crate::graph) fn mail(&self) -> impl Iterator<Item = &Message> {
        let update = match self {
            Self::Note(note) if note.node == MAIL => note.update.as_ref(),
            _ => None,
        };
        update.into_iter().flat_map(StateUpdate::new_messages)
    }
}

/// What a node noted while it ran.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// The node, with the way to it.
    pub(in crate::graph) node: String,
    pub(crate) key: String,
    pub(crate) value: Value,
    /// What the note is about did to the state.
    pub(crate) update: Option<StateUpdate>,
}

impl Note {
    /// True if what the node noted before under this key counts no more.
    pub(crate) fn takes_back(&self) -> bool {
        self.update.is_none() && self.value.is_null()
    }
}

/// A time as it is written: whole milliseconds since 1970.
pub(super) fn to_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn from_millis(millis: u64) -> SystemTime {
    UNIX_EPOCH
        .checked_add(Duration::from_millis(millis))
        .unwrap_or(UNIX_EPOCH)
}
