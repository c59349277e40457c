//! What is written down of the steps that are not over.

use std::collections::HashSet;
use std::sync::Arc;

use super::load::Loaded;
use super::record::{Asked, Entry, Note};
use super::same::{Item, since};
use crate::message::{Message, MessageId};

/// The entries in the order in which they came, without those that are over.
#[derive(Default)]
pub(super) struct Journal(Vec<Kept>);

struct Kept {
    entry: Entry,
    /// Its place in the list that the thread's head holds, if it is there as it is.
    place: Option<usize>,
}

impl Journal {
    /// What a thread holds that is gone on with.
    pub(super) fn of(loaded: Option<&Loaded>) -> Self {
        let kept = |loaded: &Loaded| {
            let entries = loaded.journal.iter().cloned().enumerate();
            let kept = entries.map(|(place, entry)| Kept {
                entry,
                place: Some(place).filter(|place| *place < loaded.stored.entries),
            });
            kept.collect()
        };
        Self(loaded.map_or_else(Vec::new, kept))
    }

    /// As the thread's next head holds it.
    pub(super) fn written(&mut self) -> Vec<Item<Entry>> {
        let entries = self.0.iter().map(|kept| (&kept.entry, kept.place));
        let items = since(entries).into_iter();
        let items = items.map(|item| item.map(Entry::clone)).collect();
        for (place, kept) in self.0.iter_mut().enumerate() {
            kept.place = Some(place);
        }
        items
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
                    next: Some(_),
                    ..
                } => self.node_ended(&format!("{path}{node}"), interrupts),
                // It has paused once more.
                Entry::Ended { .. } => {}
                Entry::Answer { id, .. } => drop(answered.insert(id.as_str())),
                Entry::Note(_) => {}
            }
        }
        if !answered.is_empty() {
            self.0.retain(|kept| match &kept.entry {
                Entry::Answer { id, .. } => !answered.contains(id.as_str()),
                _ => true,
            });
        }
        let place = None;
        let entries = entries.into_iter();
        self.0.extend(entries.map(|entry| Kept { entry, place }));
    }

    /// What a node of a branch noted, and what went on inside of it, is over with the node.
    fn node_ended(&mut self, node: &str, interrupts: &[Arc<Asked>]) {
        let is_over = |asked: &Arc<Asked>| asked.is_after() && asked.node == node;
        if !interrupts.iter().all(is_over) {
            return;
        }
        let is_within = |path: &str| {
            let rest = path.strip_prefix(node);
            rest.is_some_and(|rest| rest.starts_with(['/', '>']))
        };
        self.0.retain(|kept| match &kept.entry {
            Entry::Note(note) => note.node != node && !is_within(&note.node),
            Entry::Ended { path, .. } => !is_within(path),
            Entry::Answer { .. } => true,
        });
    }

    /// What is still needed once a step is over: nothing, unless it paused, but messages that
    /// nobody has read.
    pub(super) fn step_done(&mut self, interrupts: &[Arc<Asked>], read: &HashSet<MessageId>) {
        let asked: HashSet<&str> = interrupts.iter().map(|asked| asked.id.as_str()).collect();
        self.0.retain_mut(|kept| match &mut kept.entry {
            Entry::Answer { id, is_read, .. } => {
                if !std::mem::replace(is_read, true) {
                    kept.place = None;
                }
                asked.contains(id.as_str())
            }
            Entry::Ended {
                interrupts,
                update,
                next,
                ..
            } => {
                // They are those of the step now.
                if !std::mem::take(interrupts).is_empty() {
                    kept.place = None;
                }
                let says_nothing = next.is_none() && update.is_empty();
                !asked.is_empty() && !says_nothing
            }
            entry @ Entry::Note(_) => entry.mail().any(|mail| !read.contains(mail.id())),
        });
    }

    /// The notes of a node that has not ended.
    pub(super) fn notes(&self, node: &str) -> Vec<Note> {
        let notes = self.0.iter().filter_map(|kept| match &kept.entry {
            Entry::Note(note) if note.node == node => Some(note.clone()),
            _ => None,
        });
        notes.collect()
    }

    /// What the nodes of a branch, or of a sub-graph, have done so far.
    pub(super) fn ended(&self, of: &str) -> Vec<Entry> {
        let entries = self.0.iter().map(|kept| &kept.entry);
        let ended = entries.filter(|entry| match entry {
            Entry::Ended { path, .. } => path == of,
            _ => false,
        });
        ended.cloned().collect()
    }

    /// True if something of a branch, or of a sub-graph, is written down.
    pub(super) fn knows(&self, of: &str) -> bool {
        let mut entries = self.0.iter().map(|kept| &kept.entry);
        entries.any(|entry| matches!(entry, Entry::Ended { path, .. } if path == of))
    }

    /// True if this message from outside is written down.
    pub(super) fn keeps(&self, message: &Message) -> bool {
        let mut mail = self.0.iter().flat_map(|kept| kept.entry.mail());
        mail.any(|kept| kept.id() == message.id())
    }
}
