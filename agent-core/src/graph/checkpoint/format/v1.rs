//! Format 1: the first.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::record::{self, from_millis, to_millis};
use super::super::same::Item;
use super::message::{Message, ToolResult};
use crate::boxed::BoxError;
use crate::message::MessageId;
use crate::state::delta::{self, Raw, StateDelta};
use crate::state::{StateError, StateUpdate};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    step: u64,
    created_ms: u64,
    ran: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<Frontier>,
    delta: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    interrupts: Vec<Item<Asked>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    journal: Vec<Item<Entry>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    effects: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Frontier {
    End,
    Node(String),
    Branches(Branches),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Branches {
    from: String,
    join: String,
    branches: Vec<Branch>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Branch {
    node: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Update>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Set(String, Value),
    Extend(String, Vec<Value>),
    Merge(String, Value),
    Remove(String),
    Push(Message),
    Answer(ToolResult),
    EditCall(String, String),
    RemoveMessage(String),
    ReplaceMessages(Vec<Message>),
}

/// The changes of an update, before a strategy joined them.
type Update = Vec<RawChange>;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawChange {
    Put(String, Value),
    Remove(String),
    ReplaceAll(String, Vec<Value>),
    RemoveItem(String, Value),
    Push(Message),
    Answer(ToolResult),
    EditCall(String, String),
    RemoveMessage(String),
    ReplaceMessages(Vec<Message>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: String,
    node: String,
    key: String,
    payload: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    about: Value,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    breakpoint: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Answer(Answer),
    Note(Note),
    Ended(Ended),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    id: String,
    value: Value,
    /// Only in a checkpoint: a write always comes before the step that reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    read: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    node: String,
    key: String,
    value: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    update: Option<Update>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ended {
    path: String,
    node: String,
    update: Update,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<Frontier>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    interrupts: Vec<Asked>,
}

impl Record {
    pub(super) fn of(record: &record::Record) -> Result<Self, StateError> {
        let asked = |asked: &Arc<record::Asked>| Ok::<_, StateError>(Asked::of(asked));
        Ok(Self {
            step: record.step,
            created_ms: to_millis(record.created),
            ran: record.ran.clone(),
            next: record.next.as_ref().map(Frontier::of).transpose()?,
            delta: record.delta.0.iter().map(Change::of).collect(),
            interrupts: all(record.interrupts.iter().map(Item::as_ref), asked)?,
            journal: all(record.journal.iter().map(Item::as_ref), Entry::of)?,
            effects: record.effects.clone(),
        })
    }

    pub(super) fn into_record(self) -> Result<record::Record, BoxError> {
        let delta = self.delta.into_iter().map(Change::into_change);
        let asked = |asked: Asked| Ok::<_, BoxError>(Arc::new(asked.into_asked()));
        Ok(record::Record {
            step: self.step,
            created: from_millis(self.created_ms),
            ran: self.ran,
            next: self.next.map(Frontier::into_frontier).transpose()?,
            delta: StateDelta(delta.collect::<Result<_, _>>()?),
            interrupts: all(self.interrupts, asked)?,
            journal: all(self.journal, Entry::into_entry)?,
            effects: self.effects,
        })
    }
}

fn all<T, U, E>(
    items: impl IntoIterator<Item = Item<T>>,
    f: impl Fn(T) -> Result<U, E>,
) -> Result<Vec<Item<U>>, E> {
    items.into_iter().map(|item| item.try_map(&f)).collect()
}

impl Frontier {
    fn of(frontier: &record::Frontier) -> Result<Self, StateError> {
        Ok(match frontier {
            record::Frontier::End => Self::End,
            record::Frontier::Node(node) => Self::Node(node.clone()),
            record::Frontier::Branches {
                from,
                branches,
                join,
            } => Self::Branches(Branches {
                from: from.clone(),
                join: join.clone(),
                branches: branches
                    .iter()
                    .map(|branch| {
                        Ok(Branch {
                            node: branch.node.clone(),
                            input: branch.input.as_ref().map(write_update).transpose()?,
                        })
                    })
                    .collect::<Result<_, StateError>>()?,
            }),
        })
    }

    fn into_frontier(self) -> Result<record::Frontier, BoxError> {
        Ok(match self {
            Self::End => record::Frontier::End,
            Self::Node(node) => record::Frontier::Node(node),
            Self::Branches(Branches {
                from,
                join,
                branches,
            }) => record::Frontier::Branches {
                from,
                join,
                branches: branches
                    .into_iter()
                    .map(|branch| {
                        Ok(record::Branch {
                            node: branch.node,
                            input: branch.input.map(read_update).transpose()?,
                        })
                    })
                    .collect::<Result<_, BoxError>>()?,
            },
        })
    }
}

impl Change {
    fn of(change: &delta::Change) -> Self {
        match change {
            delta::Change::Set(key, value) => Self::Set(key.to_string(), Value::clone(value)),
            delta::Change::Extend(key, items) => Self::Extend(key.to_string(), items.clone()),
            delta::Change::Merge(key, value) => Self::Merge(key.to_string(), value.clone()),
            delta::Change::Remove(key) => Self::Remove(key.to_string()),
            delta::Change::Push(message) => Self::Push(Message::of(message)),
            delta::Change::Answer(result) => Self::Answer(ToolResult::of(result)),
            delta::Change::EditCall(id, arguments) => Self::EditCall(id.clone(), arguments.clone()),
            delta::Change::RemoveMessage(id) => Self::RemoveMessage(id.to_string()),
            delta::Change::ReplaceMessages(messages) => {
                Self::ReplaceMessages(messages.iter().map(Message::of).collect())
            }
        }
    }

    fn into_change(self) -> Result<delta::Change, BoxError> {
        Ok(match self {
            Self::Set(key, value) => delta::Change::Set(key.into(), Arc::new(value)),
            Self::Extend(key, items) => delta::Change::Extend(key.into(), items),
            Self::Merge(key, value) => delta::Change::Merge(key.into(), value),
            Self::Remove(key) => delta::Change::Remove(key.into()),
            Self::Push(message) => delta::Change::Push(message.into_message()?),
            Self::Answer(result) => delta::Change::Answer(result.into_result()?),
            Self::EditCall(id, arguments) => delta::Change::EditCall(id, arguments),
            Self::RemoveMessage(id) => delta::Change::RemoveMessage(MessageId::new(id)),
            Self::ReplaceMessages(messages) => delta::Change::ReplaceMessages(read_all(messages)?),
        })
    }
}

fn write_update(update: &StateUpdate) -> Result<Update, StateError> {
    let raw = update.raw()?.into_iter().map(|change| match change {
        Raw::Put(key, value) => RawChange::Put(key.to_string(), value),
        Raw::Remove(key) => RawChange::Remove(key.to_string()),
        Raw::ReplaceAll(key, items) => RawChange::ReplaceAll(key.to_string(), items),
        Raw::RemoveItem(key, item) => RawChange::RemoveItem(key.to_string(), item),
        Raw::Push(message) => RawChange::Push(Message::of(&message)),
        Raw::Answer(result) => RawChange::Answer(ToolResult::of(&result)),
        Raw::EditCall(id, arguments) => RawChange::EditCall(id, arguments),
        Raw::RemoveMessage(id) => RawChange::RemoveMessage(id.to_string()),
        Raw::ReplaceMessages(messages) => {
            RawChange::ReplaceMessages(messages.iter().map(Message::of).collect())
        }
    });
    Ok(raw.collect())
}

fn read_update(update: Update) -> Result<StateUpdate, BoxError> {
    let raw = update.into_iter().map(|change| {
        Ok(match change {
            RawChange::Put(key, value) => Raw::Put(key.into(), value),
            RawChange::Remove(key) => Raw::Remove(key.into()),
            RawChange::ReplaceAll(key, items) => Raw::ReplaceAll(key.into(), items),
            RawChange::RemoveItem(key, item) => Raw::RemoveItem(key.into(), item),
            RawChange::Push(message) => Raw::Push(message.into_message()?),
            RawChange::Answer(result) => Raw::Answer(result.into_result()?),
            RawChange::EditCall(id, arguments) => Raw::EditCall(id, arguments),
            RawChange::RemoveMessage(id) => Raw::RemoveMessage(MessageId::new(id)),
            RawChange::ReplaceMessages(messages) => Raw::ReplaceMessages(read_all(messages)?),
        })
    });
    Ok(StateUpdate::of_raw(
        raw.collect::<Result<Vec<_>, BoxError>>()?,
    ))
}

fn read_all(messages: Vec<Message>) -> Result<Vec<crate::message::Message>, BoxError> {
    messages.into_iter().map(Message::into_message).collect()
}

impl Asked {
    fn of(asked: &record::Asked) -> Self {
        Self {
            id: asked.id.clone(),
            node: asked.node.clone(),
            key: asked.key.clone(),
            payload: asked.payload.clone(),
            about: asked.about.clone(),
            breakpoint: asked.is_breakpoint,
        }
    }

    fn into_asked(self) -> record::Asked {
        record::Asked {
            id: self.id,
            node: self.node,
            key: self.key,
            payload: self.payload,
            about: self.about,
            is_breakpoint: self.breakpoint,
        }
    }
}

impl Entry {
    pub(super) fn of(entry: &record::Entry) -> Result<Self, StateError> {
        Ok(match entry {
            record::Entry::Answer { id, value, is_read } => Self::Answer(Answer {
                id: id.clone(),
                value: value.clone(),
                read: *is_read,
            }),
            record::Entry::Note(note) => Self::Note(Note {
                node: note.node.clone(),
                key: note.key.clone(),
                value: note.value.clone(),
                update: note.update.as_ref().map(write_update).transpose()?,
            }),
            record::Entry::Ended {
                path,
                node,
                update,
                next,
                interrupts,
            } => Self::Ended(Ended {
                path: path.clone(),
                node: node.clone(),
                update: write_update(update)?,
                next: next.as_ref().map(Frontier::of).transpose()?,
                interrupts: interrupts.iter().map(|it| Asked::of(it)).collect(),
            }),
        })
    }

    pub(super) fn into_entry(self) -> Result<record::Entry, BoxError> {
        Ok(match self {
            Self::Answer(Answer { id, value, read }) => record::Entry::Answer {
                id,
                value,
                is_read: read,
            },
            Self::Note(note) => record::Entry::Note(record::Note {
                node: note.node,
                key: note.key,
                value: note.value,
                update: note.update.map(read_update).transpose()?,
            }),
            Self::Ended(ended) => record::Entry::Ended {
                path: ended.path,
                node: ended.node,
                update: read_update(ended.update)?,
                next: ended.next.map(Frontier::into_frontier).transpose()?,
                interrupts: ended
                    .interrupts
                    .into_iter()
                    .map(|it| Arc::new(it.into_asked()))
                    .collect(),
            },
        })
    }
}
