//! What is written down of the steps that are not over.

use std::collections::HashSet;

use super::load::Loaded;
use super::record::{Asked, Entry, Note};
use crate::message::{Message, MessageId};

/// The entries in the order in which they came, without those that are over.
#[derive(Default)]
pub(super) struct Journal(Vec<Entry>);

impl Journal {
    /// What a thread holds that is gone on with.
    pub(super) fn of(loaded: Option<&Loaded>) -> Self {
        Self(loaded.map_or_else(Vec::new, |loaded| loaded.journal.clone()))
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn add(&mut self, entries: Vec<Entry>) {
        let mut answered = HashSet::new();
        for entry in &entries {
            match entry {
                Entry::Ended {
                    path,
                    node,
                    interrupts,
                    ..
                } => self.node_ended(&format!("{path}{node}"), interrupts),
                Entry::Answer { id, .. } => drop(answered.insert(id.as_str())),
                Entry::Note(_) => {}
            }
        }
        if !answered.is_empty() {
            self.0.retain(
                |entry| !matches!(entry, Entry::Answer { id, .. } if answered.contains(id.as_str())),
            );
        }
        self.0.extend(entries);
    }

    /// What a node of a branch noted, and what went on inside of it, is over with the node.
    fn node_ended(&mut self, node: &str, interrupts: &[Asked]) {
        let is_over = |asked: &Asked| asked.is_after() && asked.node == node;
        if !interrupts.iter().all(is_over) {
            return;
        }
        let is_within = |path: &str| {
            let rest = path.strip_prefix(node);
            rest.is_some_and(|rest| rest.starts_with(['/', '>']))
        };
        self.0.retain(|entry| match entry {
            Entry::Note(note) => note.node != node && !is_within(&note.node),
            Entry::Ended { path, .. } => !is_within(path),
            Entry::Answer { .. } => true,
        });
    }

    /// What is still needed once a step is over: nothing, unless it paused, but messages that
    /// nobody has read.
    pub(super) fn step_done(&mut self, interrupts: &[Asked], read: &HashSet<MessageId>) {
        let asked: HashSet<&str> = interrupts.iter().map(|asked| asked.id.as_str()).collect();
        self.0.retain_mut(|entry| match entry {
            Entry::Answer { id, is_read, .. } => {
                *is_read = true;
                asked.contains(id.as_str())
            }
            Entry::Ended { .. } => !asked.is_empty(),
            Entry::Note(_) => entry.mail().any(|mail| !read.contains(mail.id())),
        });
    }

    /// The notes of a node that has not ended.
    pub(super) fn notes(&self, node: &str) -> Vec<Note> {
        let notes = self.0.iter().filter_map(|entry| match entry {
            Entry::Note(note) if note.node == node => Some(note.clone()),
            _ => None,
        });
        notes.collect()
    }

    /// What the nodes of a branch, or of a sub-graph, have done so far.
    pub(super) fn ended(&self, of: &str) -> Vec<Entry> {
        let ended = self.0.iter().filter(|entry| match entry {
            Entry::Ended { path, .. } => path == of,
            _ => false,
        });
        ended.cloned().collect()
    }

    /// True if this message from outside is written down.
    pub(super) fn keeps(&self, message: &Message) -> bool {
        let mut mail = self.0.iter().flat_map(Entry::mail);
        mail.any(|kept| kept.id() == message.id())
    }
}
