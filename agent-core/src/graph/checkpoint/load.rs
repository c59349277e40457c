//! Reads a thread: its state is put together from what each checkpoint added.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::format::{self, Unreadable};
use super::open::Open;
use super::record::{Asked, Entry, Frontier, Record};
use super::{CheckpointError, CheckpointId, CheckpointSaver, NESTED, StoredCheckpoint};
use crate::state::State;

/// A thread at one of its checkpoints.
#[derive(Debug)]
pub(in crate::graph) struct Loaded {
    pub(in crate::graph) version: u64,
    pub(in crate::graph) at: CheckpointId,
    pub(in crate::graph) state: State,
    pub(in crate::graph) step: u64,
    pub(in crate::graph) next: Frontier,
    /// What was asked in the step that is not over, whether it was answered or not.
    pub(in crate::graph) asked: Vec<Asked>,
    /// The answers there are.
    pub(in crate::graph) answers: HashMap<String, Value>,
    /// Those of them that no step which is written down has read: they can be replaced.
    pub(in crate::graph) fresh: HashSet<String>,
    /// The interrupts that have their answers, since the thread began.
    pub(in crate::graph) answered: HashSet<String>,
    /// What of the steps that are not over was written down.
    pub(in crate::graph) journal: Vec<Entry>,
    pub(in crate::graph) chain: Vec<CheckpointId>,
}

/// Reads a thread up to its head, or up to another checkpoint. `None` if there is no such thread.
pub(in crate::graph) async fn load(
    saver: &Arc<dyn CheckpointSaver>,
    thread: &str,
    at: Option<&CheckpointId>,
) -> Result<Option<Loaded>, CheckpointError> {
    let Some(stored) = saver.load(thread, at).await? else {
        return Ok(None);
    };
    let mut state = State::new();
    let mut asked: Vec<String> = Vec::new();
    let mut last: Option<Record> = None;
    let mut chain = Vec::with_capacity(stored.chain.len());
    for checkpoint in &stored.chain {
        let mut record = decode(thread, checkpoint)?;
        let delta = std::mem::take(&mut record.delta);
        delta
            .apply(&mut state)
            .map_err(|error| broken(thread, checkpoint.id.as_str(), error.into()))?;
        asked.extend(record.interrupts.iter().map(|asked| asked.id.clone()));
        chain.push(checkpoint.id.clone());
        last = Some(record);
    }
    let (Some(record), Some(at)) = (last, chain.last().cloned()) else {
        return Err(CheckpointError::ThreadNotFound {
            thread: thread.to_owned(),
        });
    };
    let mut journal = record.journal;
    for (position, write) in stored.writes.iter().enumerate() {
        let key = format!("write {} after {at}", position + 1);
        let entry = format::read_entry(write).map_err(|error| unreadable(thread, &key, error))?;
        journal.push(entry);
    }
    let mut open = Open::default();
    open.extend(record.interrupts);
    let mut answers = HashMap::new();
    let mut fresh = HashSet::new();
    for entry in &journal {
        match entry {
            Entry::Answer { id, value, is_read } => {
                answers.insert(id.clone(), value.clone());
                if !is_read {
                    fresh.insert(id.clone());
                }
            }
            Entry::Ended {
                path,
                node,
                interrupts,
                ..
            } => {
                for asked in open.inside(path, node) {
                    fresh.remove(&asked.id);
                }
                open.extend(interrupts.iter().cloned());
            }
            Entry::Note(note) if note.takes_back() => {
                fresh.extend(open.about(note).map(|asked| asked.id.clone()));
            }
            Entry::Note(note) => {
                for asked in open.about(note) {
                    fresh.remove(&asked.id);
                }
            }
        }
    }
    fresh.retain(|id| answers.contains_key(id));
    let mut seen = HashSet::new();
    let mut open = open.into_all();
    open.retain(|asked| seen.insert(asked.id.clone()));
    let is_open = |id: &String| seen.contains(id) && !answers.contains_key(id);
    asked.retain(|id| !is_open(id));
    Ok(Some(Loaded {
        version: stored.version,
        at,
        answered: asked.into_iter().collect(),
        state,
        step: record.step,
        next: record.next,
        asked: open,
        answers,
        fresh,
        journal,
        chain,
    }))
}

impl Loaded {
    /// Who waits for an answer.
    pub(in crate::graph) fn pending(&self) -> impl Iterator<Item = &Asked> {
        let is_open = |asked: &&Asked| !self.answers.contains_key(&asked.id);
        self.asked.iter().filter(is_open)
    }

    /// What an answer may come to: what waits, and what was answered without effect so far.
    pub(in crate::graph) fn answerable(&self) -> impl Iterator<Item = &Asked> {
        let is_open = |asked: &&Asked| {
            !self.answers.contains_key(&asked.id) || self.fresh.contains(&asked.id)
        };
        self.asked.iter().filter(is_open)
    }
}

pub(super) fn decode(
    thread: &str,
    checkpoint: &StoredCheckpoint,
) -> Result<Record, CheckpointError> {
    format::read_checkpoint(&checkpoint.payload)
        .map_err(|error| unreadable(thread, checkpoint.id.as_str(), error))
}

fn unreadable(thread: &str, key: &str, error: Unreadable) -> CheckpointError {
    match error {
        Unreadable::Malformed(source) => broken(thread, key, source),
        Unreadable::Version(found) => CheckpointError::UnsupportedVersion {
            thread: thread.to_owned(),
            key: key.to_owned(),
            found,
            supported: format::VERSION,
        },
    }
}

fn broken(thread: &str, key: &str, source: crate::boxed::BoxError) -> CheckpointError {
    CheckpointError::Decode {
        thread: thread.to_owned(),
        key: key.to_owned(),
        source,
    }
}

/// The longest name of a thread, in bytes.
const LONGEST: usize = 1024;

/// That of one that runs inside of a call, which has the name of the thread around it in front.
const LONGEST_NESTED: usize = 2560;

/// Refuses a name that no store could keep.
pub(in crate::graph) fn check_name(thread: &str) -> Result<(), CheckpointError> {
    let longest = match thread.contains(NESTED) {
        true => LONGEST_NESTED,
        false => LONGEST,
    };
    if thread.is_empty() || thread.len() > longest || thread.chars().any(char::is_control) {
        return Err(CheckpointError::InvalidThread {
            thread: thread.to_owned(),
        });
    }
    Ok(())
}
