//! What an update did to a state, so that it can be done again without the strategies.
//!
//! A strategy may change between two versions of a program, or be a closure; what it made of
//! an update may not. So a change is kept as its effect: items added to a list, members united
//! with an object, or the whole value.

use std::sync::Arc;

use serde_json::Value;

use super::key_strategy::merge_all;
use super::update::{MessageChange, ValueChange};
use super::{KeyStrategy, State, StateError, StateUpdate};
use crate::message::{Message, MessageId, ToolResult, Transcript};

/// The effects of updates, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StateDelta(pub(crate) Vec<Change>);

/// One effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// The key has this value.
    Set(Arc<str>, Arc<Value>),
    /// These items stand at the end of the key's list.
    Extend(Arc<str>, Vec<Value>),
    /// This object was merged into the key's.
    Merge(Arc<str>, Value),
    /// The key is gone.
    Remove(Arc<str>),
    /// A message stands at the end.
    Push(Message),
    /// An open call has its result.
    Answer(ToolResult),
    /// An open call has these arguments.
    EditCall(String, String),
    /// A message is gone, with its group.
    RemoveMessage(MessageId),
    /// The messages are these.
    ReplaceMessages(Vec<Message>),
}

impl StateDelta {
    /// The effects that make a whole state of an empty one.
    pub(crate) fn whole(state: &State) -> Self {
        let values = state.values.iter();
        let mut changes: Vec<Change> = values
            .map(|(key, value)| Change::Set(Arc::clone(key), Arc::clone(value)))
            .collect();
        changes.extend(state.messages().iter().cloned().map(Change::Push));
        let partial = state.transcript.partial_results();
        changes.extend(partial.cloned().map(Change::Answer));
        Self(changes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds effects that came later.
    pub(crate) fn extend(&mut self, later: Self) {
        self.0.extend(later.0);
    }

    /// Does the same to another state.
    ///
    /// # Errors
    ///
    /// The first effect that does not fit the state, which is then half changed.
    pub(crate) fn apply(self, state: &mut State) -> Result<(), StateError> {
        // Those that follow one another are made together: each copies the message.
        let mut edits = Vec::new();
        for change in self.0 {
            if let Change::EditCall(call_id, arguments) = change {
                edits.push((call_id, arguments));
                continue;
            }
            state.transcript.edit_calls(std::mem::take(&mut edits))?;
            match change {
                Change::EditCall(..) => {}
                Change::Push(message) => state.transcript.push(message)?,
                Change::Answer(result) => state.transcript.answer(result)?,
                Change::RemoveMessage(id) => {
                    state.transcript.remove(&id);
                }
                Change::ReplaceMessages(messages) => {
                    state.transcript = Transcript::from_messages(messages)?;
                }
                Change::Set(key, value) => {
                    Arc::make_mut(&mut state.values).insert(key, value);
                }
                Change::Remove(key) => {
                    Arc::make_mut(&mut state.values).remove(&key);
                }
                Change::Extend(key, items) => {
                    let values = Arc::make_mut(&mut state.values);
                    let Some(Value::Array(list)) = values.get_mut(&key).map(Arc::make_mut) else {
                        return Err(misfit(&key));
                    };
                    list.extend(items);
                }
                Change::Merge(key, new) => {
                    let values = Arc::make_mut(&mut state.values);
                    let Some(slot) = values.get_mut(&key).map(Arc::make_mut) else {
                        return Err(misfit(&key));
                    };
                    *slot = merge_all(&key, slot.take(), new)?;
                }
            }
        }
        state.transcript.edit_calls(edits)?;
        Ok(())
    }
}

fn misfit(key: &str) -> StateError {
    StateError::Strategy {
        key: key.to_owned(),
        source: "a recorded change adds to a value that is not there".into(),
    }
}

/// What the changes of one key do, if it can be told without the value they give.
pub(super) fn short_effect(
    strategy: &KeyStrategy,
    (key, old): (&Arc<str>, Option<&Value>),
    changes: &[ValueChange],
) -> Option<Vec<Change>> {
    let puts: Option<Vec<&Value>> = changes
        .iter()
        .map(|change| match change {
            ValueChange::Put(value) => Some(value),
            _ => None,
        })
        .collect();
    let puts = puts?;
    match (strategy, old) {
        (KeyStrategy::Append, Some(Value::Array(_))) => {
            let mut items = Vec::new();
            for put in puts {
                match put {
                    Value::Null => {}
                    Value::Array(new) => items.extend(new.iter().cloned()),
                    new => items.push(new.clone()),
                }
            }
            Some(match items.is_empty() {
                true => Vec::new(),
                false => vec![Change::Extend(Arc::clone(key), items)],
            })
        }
        (KeyStrategy::Merge, Some(Value::Object(_))) => Some(
            puts.into_iter()
                .map(|new| Change::Merge(Arc::clone(key), new.clone()))
                .collect(),
        ),
        _ => None,
    }
}

/// What the changes of the messages do: those that take away first, as they are made.
pub(super) fn message_effects(changes: &[MessageChange]) -> Vec<Change> {
    let mut effects = Vec::new();
    let mut added = Vec::new();
    for change in changes {
        match change {
            MessageChange::Push(message) => added.push(Change::Push(message.clone())),
            MessageChange::Answer(result) => added.push(Change::Answer(result.clone())),
            MessageChange::Remove(id) => effects.push(Change::RemoveMessage(id.clone())),
            MessageChange::EditCall(call_id, arguments) => {
                effects.push(Change::EditCall(call_id.clone(), arguments.clone()));
            }
            MessageChange::ReplaceAll(messages) => {
                added.clear();
                effects.push(Change::ReplaceMessages(messages.clone()));
            }
        }
    }
    effects.extend(added);
    effects
}

/// The changes of an update by name, for whoever writes them down.
#[derive(Debug, Clone)]
pub(crate) enum Raw {
    Put(Arc<str>, Value),
    Remove(Arc<str>),
    ReplaceAll(Arc<str>, Vec<Value>),
    RemoveItem(Arc<str>, Value),
    Push(Message),
    Answer(ToolResult),
    EditCall(String, String),
    RemoveMessage(MessageId),
    ReplaceMessages(Vec<Message>),
}

impl StateUpdate {
    /// The changes, in order, values first.
    ///
    /// # Errors
    ///
    /// A value that has no JSON form.
    pub(crate) fn raw(&self) -> Result<Vec<Raw>, StateError> {
        let mut raw = Vec::with_capacity(self.values.len() + self.messages.len());
        for (key, change) in &self.values {
            let key = Arc::clone(key);
            raw.push(match change {
                ValueChange::Put(value) => Raw::Put(key, value.clone()),
                ValueChange::Remove => Raw::Remove(key),
                ValueChange::ReplaceAll(items) => Raw::ReplaceAll(key, items.clone()),
                ValueChange::RemoveItem(item) => Raw::RemoveItem(key, item.clone()),
                ValueChange::Broken(error) => {
                    return Err(StateError::Serialize {
                        key: key.to_string(),
                        source: Box::new(Arc::clone(error)),
                    });
                }
            });
        }
        raw.extend(self.messages.iter().map(|change| match change {
            MessageChange::Push(message) => Raw::Push(message.clone()),
            MessageChange::Answer(result) => Raw::Answer(result.clone()),
            MessageChange::EditCall(call_id, arguments) => {
                Raw::EditCall(call_id.clone(), arguments.clone())
            }
            MessageChange::Remove(id) => Raw::RemoveMessage(id.clone()),
            MessageChange::ReplaceAll(messages) => Raw::ReplaceMessages(messages.clone()),
        }));
        Ok(raw)
    }

    /// An update of these changes.
    pub(crate) fn of_raw(raw: impl IntoIterator<Item = Raw>) -> Self {
        let mut update = Self::new();
        for change in raw {
            update = match change {
                Raw::Put(key, value) => update.put(key, value),
                Raw::Remove(key) => update.remove(key),
                Raw::ReplaceAll(key, items) => update.replace_all(key, items),
                Raw::RemoveItem(key, item) => update.remove_item(key, item),
                Raw::Push(message) => update.message(message),
                Raw::Answer(result) => update.answer(result),
                Raw::EditCall(call_id, arguments) => update.edit_call(call_id, arguments),
                Raw::RemoveMessage(id) => update.remove_message(id),
                Raw::ReplaceMessages(messages) => update.replace_messages(messages),
            };
        }
        update
    }
}
