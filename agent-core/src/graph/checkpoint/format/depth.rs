//! Lists and objects that stand too deep inside each other: they could be written, and never read
//! again.

use std::sync::Arc;

use serde_json::Value;

use super::super::record::{Asked, Entry, Record};
use super::super::same::Item;
use crate::state::delta::{Change, Raw};
use crate::state::{StateError, StateUpdate};

/// How deep a text may go. `serde_json` reads 127 levels; a value of one text may stand some
/// deeper in another.
const LIMIT: usize = 112;

/// True if a JSON text goes no deeper than can be read, wherever its values come to stand.
pub(super) fn is_readable(json: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                while let Some(b'\\') = bytes.find(|byte| matches!(byte, b'"' | b'\\')) {
                    bytes.next();
                }
            }
            b'[' | b'{' if depth == LIMIT => return false,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}

pub(super) fn too_deep(key: String) -> StateError {
    StateError::Serialize {
        key,
        source: "its lists and objects stand more than 100 deep inside each other".into(),
    }
}

/// What to name of a record that goes too deep.
pub(super) fn of_record(record: &Record) -> String {
    let changes = record.delta.0.iter().filter_map(|change| match change {
        Change::Set(key, value) => Some((key.to_string(), depth(value))),
        Change::Extend(key, items) => Some((key.to_string(), depth_of_all(items))),
        Change::Merge(key, value) => Some((key.to_string(), depth(value))),
        _ => None,
    });
    let interrupts = record.interrupts.iter().filter_map(Item::as_new);
    let journal = record.journal.iter().filter_map(Item::as_new);
    let journal = journal.flat_map(names);
    deepest(changes.chain(asked(interrupts)).chain(journal))
}

/// What to name of an entry that goes too deep.
pub(super) fn of_entry(entry: &Entry) -> String {
    deepest(names(entry).into_iter())
}

fn deepest(named: impl Iterator<Item = (String, usize)>) -> String {
    let deepest = named.max_by_key(|(_, depth)| *depth);
    // What came from a provider stands in messages.
    let deepest = deepest.filter(|(_, depth)| *depth > LIMIT / 2);
    deepest.map_or_else(|| crate::state::MESSAGES.to_owned(), |(name, _)| name)
}

fn names(entry: &Entry) -> Vec<(String, usize)> {
    match entry {
        Entry::Answer { id, value, .. } => vec![(id.clone(), depth(value))],
        Entry::Note(note) => {
            let mut all: Vec<_> = note.update.iter().flat_map(keys).collect();
            all.push((note.key.clone(), depth(&note.value)));
            all
        }
        Entry::Ended {
            update, interrupts, ..
        } => keys(update).into_iter().chain(asked(interrupts)).collect(),
    }
}

fn asked<'a>(
    asked: impl IntoIterator<Item = &'a Arc<Asked>>,
) -> impl Iterator<Item = (String, usize)> {
    let name = |asked: &Arc<Asked>| (asked.id.clone(), depth(&asked.payload));
    asked.into_iter().map(name)
}

fn keys(update: &StateUpdate) -> Vec<(String, usize)> {
    let changes = update.raw().unwrap_or_default().into_iter();
    let named = changes.filter_map(|change| match change {
        Raw::Put(key, value) | Raw::RemoveItem(key, value) => {
            Some((key.to_string(), depth(&value)))
        }
        Raw::ReplaceAll(key, items) => Some((key.to_string(), depth_of_all(&items))),
        _ => None,
    });
    named.collect()
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + depth_of_all(items),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn depth_of_all(values: &[Value]) -> usize {
    values.iter().map(depth).max().unwrap_or_default()
}
