//! The checkpoints of a thread without their states, as they are told.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use super::load::{NO_WAY_ON, broken, decode};
use super::record::{Asked, Entry, Frontier, Record};
use super::same::{Item, after};
use super::{CheckpointError, CheckpointId, CheckpointSaver, StoredCheckpoint};
use crate::boxed::BoxError;

/// How many are read at once beyond those that are told.
const PAGE: usize = 100;

/// One checkpoint of a thread, without its state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// By which a run [begins](crate::graph::GraphRun::at) at it.
    pub id: CheckpointId,
    /// The one it came after.
    pub parent: Option<CheckpointId>,
    /// How many steps the thread had taken.
    pub step: u64,
    /// When it was written.
    pub created: SystemTime,
    /// The nodes that ran since the one before.
    pub ran: Vec<String>,
    /// What comes next: one node, several for branches, or [`END`](crate::graph::END).
    pub next: Vec<String>,
    /// The ids of the interrupts that waited.
    pub interrupts: Vec<String>,
    /// The tools that ran since the one before and count each run: who goes back behind this
    /// checkpoint may do again what they did.
    pub effects: Vec<String>,
}

/// The last checkpoints of all branches of a thread, those written last in front.
pub(super) async fn list(
    saver: &Arc<dyn CheckpointSaver>,
    thread: &str,
    limit: usize,
) -> Result<Vec<Checkpoint>, CheckpointError> {
    let mut rows = page(saver, thread, None, limit).await?;
    let told = rows.len();
    loop {
        let (is_needed, is_incomplete) = needed(&rows, told);
        let last = rows.last().map(|row| &row.checkpoint.id);
        let more = match is_incomplete {
            true => page(saver, thread, last, PAGE).await?,
            false => Vec::new(),
        };
        if more.is_empty() {
            return put_together(thread, rows.into_iter().zip(is_needed), told);
        }
        rows.extend(more);
    }
}

/// A checkpoint, and what it says beside what it is told as.
struct Row {
    checkpoint: Checkpoint,
    says: Says,
}

/// What waited at a checkpoint may be said by its parent.
struct Says {
    next: Option<Vec<String>>,
    /// The ids of the questions.
    asked: Vec<Item<String>>,
    /// Those of the questions that are answered, among other things that were written down.
    answered: Vec<Item<Option<String>>>,
}

/// What it says as a whole; the lists are places in all there ever was.
#[derive(Default)]
struct Whole {
    next: Option<Vec<String>>,
    asked: Vec<usize>,
    answered: Vec<usize>,
}

async fn page(
    saver: &Arc<dyn CheckpointSaver>,
    thread: &str,
    before: Option<&CheckpointId>,
    limit: usize,
) -> Result<Vec<Row>, CheckpointError> {
    let read = saver.list(thread, before, limit).await?;
    let rows = read.iter().map(|stored| {
        let record = decode(thread, stored)?;
        Ok(Row::of(stored, record))
    });
    rows.collect()
}

/// Which rows are told, or say what one of those does not; and if such a one is missing.
fn needed(rows: &[Row], told: usize) -> (Vec<bool>, bool) {
    let mut parents = HashSet::new();
    let needed = rows.iter().enumerate().map(|(place, row)| {
        let is_needed = parents.remove(&row.checkpoint.id) || place < told;
        if is_needed && !row.says.is_whole() {
            parents.extend(row.checkpoint.parent.as_ref());
        }
        is_needed
    });
    // A parent was written earlier: it stands behind.
    (needed.collect(), !parents.is_empty())
}

fn put_together(
    thread: &str,
    rows: impl DoubleEndedIterator<Item = (Row, bool)> + ExactSizeIterator,
    told: usize,
) -> Result<Vec<Checkpoint>, CheckpointError> {
    let mut wholes: HashMap<CheckpointId, Whole> = HashMap::new();
    let (mut asked, mut answers) = (Vec::new(), Vec::new());
    let mut all = Vec::with_capacity(told);
    let rows = rows.enumerate().rev();
    for (place, (row, _)) in rows.filter(|(_, (_, is_needed))| *is_needed) {
        let Row {
            mut checkpoint,
            says,
        } = row;
        let nothing = Whole::default();
        let parent = checkpoint.parent.as_ref().and_then(|id| wholes.get(id));
        let whole = says.after(parent.unwrap_or(&nothing), &mut asked, &mut answers);
        let whole = whole.map_err(|error| broken(thread, checkpoint.id.as_str(), error))?;
        let id = checkpoint.id.clone();
        if place < told {
            checkpoint.next = whole.next.clone().unwrap_or_default();
            checkpoint.interrupts = whole.waiting(&asked, &answers);
            all.push(checkpoint);
        }
        wholes.insert(id, whole);
    }
    all.reverse();
    Ok(all)
}

impl Row {
    fn of(stored: &StoredCheckpoint, record: Record) -> Self {
        let next = record.next.map(|next| match next {
            Frontier::End => vec![crate::graph::END.to_owned()],
            Frontier::Node(node) => vec![node],
            Frontier::Branches { branches, .. } => {
                branches.into_iter().map(|branch| branch.node).collect()
            }
        });
        let id = |asked: Arc<Asked>| asked.id.clone();
        let answered = |entry| match entry {
            Entry::Answer { id, .. } => Some(id),
            _ => None,
        };
        let interrupts = record.interrupts.into_iter();
        let journal = record.journal.into_iter();
        Self {
            checkpoint: Checkpoint {
                id: stored.id.clone(),
                parent: stored.parent.clone(),
                step: record.step,
                created: record.created,
                ran: record.ran,
                next: Vec::new(),
                interrupts: Vec::new(),
                effects: record.effects,
            },
            says: Says {
                next,
                asked: interrupts.map(|item| item.map(id)).collect(),
                answered: journal.map(|item| item.map(answered)).collect(),
            },
        }
    }
}

impl Says {
    fn is_whole(&self) -> bool {
        self.next.is_some()
            && self.asked.iter().all(Item::is_new)
            && self.answered.iter().all(Item::is_new)
    }

    fn after(
        self,
        parent: &Whole,
        asked: &mut Vec<String>,
        answers: &mut Vec<Option<String>>,
    ) -> Result<Whole, BoxError> {
        let next = self.next.or_else(|| parent.next.clone());
        Ok(Whole {
            next: Some(next.ok_or(NO_WAY_ON)?),
            asked: after(asked, &parent.asked, self.asked)?,
            answered: after(answers, &parent.answered, self.answered)?,
        })
    }
}

impl Whole {
    /// The questions without an answer.
    fn waiting(&self, asked: &[String], answers: &[Option<String>]) -> Vec<String> {
        let answered = self.answered.iter().filter_map(|place| answers.get(*place));
        let answered: HashSet<&String> = answered.flatten().collect();
        let asked = self.asked.iter().filter_map(|place| asked.get(*place));
        asked.filter(|id| !answered.contains(id)).cloned().collect()
    }
}
