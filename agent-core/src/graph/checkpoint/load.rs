//! Reads a thread: its state is put together from what each checkpoint added.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::format::{self, Unreadable};
use super::open::Open;
use super::record::{Asked, Entry, Frontier, Record};
use super::same::{after, taken};
use super::{CheckpointError, CheckpointId, CheckpointSaver, NESTED, StoredCheckpoint};
use crate::boxed::BoxError;
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
    pub(in crate::graph) asked: Vec<Arc<Asked>>,
    /// The answers there are.
    pub(in crate::graph) answers: HashMap<String, Value>,
    /// Those of them that no step which is written down has read: they can be replaced.
    pub(in crate::graph) fresh: HashSet<String>,
    /// The interrupts that have their answers, since the thread began.
    pub(in crate::graph) answered: HashSet<String>,
    /// What of the steps that are not over was written down.
    pub(in crate::graph) journal: Vec<Entry>,
    /// What of both the checkpoint says itself.
    pub(super) stored: Stored,
    pub(in crate::graph) chain: Vec<CheckpointId>,
}

/// The lists of a checkpoint, without what was written since.
#[derive(Debug, Clone, Default)]
pub(super) struct Stored {
    pub(super) asked: Vec<Arc<Asked>>,
    /// How many entries of the journal it holds: those in front.
    pub(super) entries: usize,
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
    let mut standing = Standing::default();
    let mut chain = Vec::with_capacity(stored.chain.len());
    for checkpoint in &stored.chain {
        let record = decode(thread, checkpoint)?;
        standing
            .go_on(record)
            .map_err(|error| broken(thread, checkpoint.id.as_str(), error))?;
        chain.push(checkpoint.id.clone());
    }
    let (Some(next), Some(at)) = (standing.next, chain.last().cloned()) else {
        return Err(CheckpointError::ThreadNotFound {
            thread: thread.to_owned(),
        });
    };
    let ids = standing.all_asked.iter().map(|asked| asked.id.clone());
    let mut asked: Vec<String> = ids.collect();
    let unfit = |error| broken(thread, at.as_str(), error);
    let in_checkpoint = taken(standing.all_asked, standing.asked).map_err(unfit)?;
    let mut journal = taken(standing.all_entries, standing.journal).map_err(unfit)?;
    let lists = Stored {
        asked: in_checkpoint.clone(),
        entries: journal.len(),
    };
    for (position, write) in stored.writes.iter().enumerate() {
        let key = format!("write {} after {at}", position + 1);
        let entry = format::read_entry(write).map_err(|error| unreadable(thread, &key, error))?;
        journal.push(entry);
    }
    let mut open = Open::default();
    open.extend(in_checkpoint);
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
                if !fresh.is_empty() {
                    for asked in open.inside(path, node) {
                        fresh.remove(&asked.id);
                    }
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
        state: standing.state,
        step: standing.step,
        next,
        asked: open,
        answers,
        fresh,
        journal,
        stored: lists,
        chain,
    }))
}

/// Where a thread stands at a checkpoint. The lists are places in all there ever was.
#[derive(Default)]
struct Standing {
    state: State,
    step: u64,
    next: Option<Frontier>,
    asked: Vec<usize>,
    journal: Vec<usize>,
    all_asked: Vec<Arc<Asked>>,
    all_entries: Vec<Entry>,
}

impl Standing {
    /// Goes on to the next checkpoint.
    fn go_on(&mut self, record: Record) -> Result<(), BoxError> {
        record.delta.apply(&mut self.state)?;
        self.step = record.step;
        let next = record.next.or(self.next.take());
        self.next = Some(next.ok_or(NO_WAY_ON)?);
        self.asked = after(&mut self.all_asked, &self.asked, record.interrupts)?;
        self.journal = after(&mut self.all_entries, &self.journal, record.journal)?;
        Ok(())
    }
}

/// What is wrong with a first checkpoint that leaves to its parent what comes next.
pub(super) const NO_WAY_ON: &str = "it does not say what comes next";

impl Loaded {
    /// What the checkpoint says, without what was written since.
    pub(super) fn without_writes(mut self) -> Self {
        self.asked = std::mem::take(&mut self.stored.asked);
        self.journal.truncate(self.stored.entries);
        self
    }

    /// Who waits for an answer.
    pub(in crate::graph) fn pending(&self) -> impl Iterator<Item = &Arc<Asked>> {
        let is_open = |asked: &&Arc<Asked>| !self.answers.contains_key(&asked.id);
        self.asked.iter().filter(is_open)
    }

    /// What an answer may come to: what waits, and what was answered without effect so far.
    pub(in crate::graph) fn answerable(&self) -> impl Iterator<Item = &Arc<Asked>> {
        let is_open = |asked: &&Arc<Asked>| {
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

pub(super) fn broken(thread: &str, key: &str, source: BoxError) -> CheckpointError {
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
