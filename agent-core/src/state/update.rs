//! A list of changes to a state, before they are joined into it.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{MESSAGES, StateError, StateKey};
use crate::message::{Message, MessageId, ToolResult};

/// Changes to a state, in order.
///
/// How a written value joins the one that is there is decided by the key's
/// [`KeyStrategy`](super::KeyStrategy). All changes of one update are made together or not
/// at all.
///
/// Within one update, removals of items and messages apply to what was there before it,
/// wherever they stand: an item that is written and removed in one update moves to the end.
///
/// ```
/// use agent_core::Message;
/// use agent_core::graph::{StateKey, StateUpdate};
/// use serde_json::json;
///
/// const SCORES: StateKey<Vec<i32>> = StateKey::new("scores");
///
/// let update = StateUpdate::new()
///     .with(SCORES, vec![3])
///     .put("city", json!("Oslo"))
///     .message(Message::user("Weather?"));
/// assert_eq!(update.keys(), ["scores", "city", "messages"]);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "an update does nothing until it is returned from a node or applied"]
pub struct StateUpdate {
    pub(super) values: Vec<(Arc<str>, ValueChange)>,
    pub(super) messages: Vec<MessageChange>,
}

/// A change to the value of one key.
#[derive(Debug, Clone)]
pub(super) enum ValueChange {
    /// Join by the key's strategy.
    Put(Value),
    /// A value that could not be written; applying it is an error.
    Broken(Arc<serde_json::Error>),
    /// Delete the key.
    Remove,
    /// Set the list, whatever the strategy.
    ReplaceAll(Vec<Value>),
    /// Take the first equal item out of the list.
    RemoveItem(Value),
}

/// A change to the messages.
#[derive(Debug, Clone)]
pub(super) enum MessageChange {
    Push(Message),
    Answer(ToolResult),
    /// Other arguments for an open call.
    EditCall(String, String),
    Remove(MessageId),
    ReplaceAll(Vec<Message>),
}

impl StateUpdate {
    /// An update that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a JSON value to a key. Writing `messages` is an error when the update is applied.
    pub fn put(self, key: impl Into<Arc<str>>, value: Value) -> Self {
        self.change(key.into(), ValueChange::Put(value))
    }

    /// Writes any serialisable value to a key.
    ///
    /// # Errors
    ///
    /// [`StateError::ReservedKey`] for `messages`, and [`StateError::Serialize`] if the value
    /// has no JSON form.
    pub fn set(self, key: impl Into<Arc<str>>, value: impl Serialize) -> Result<Self, StateError> {
        let key = key.into();
        check_key(&key)?;
        match serde_json::to_value(value) {
            Ok(value) => Ok(self.change(key, ValueChange::Put(value))),
            Err(error) => Err(StateError::Serialize {
                key: key.to_string(),
                source: error.into(),
            }),
        }
    }

    /// Writes a value to its typed key. A value without JSON form, for example a map whose
    /// keys are no text, is an error when the update is applied.
    pub fn with<T: Serialize>(self, key: StateKey<T>, value: T) -> Self {
        let change = match serde_json::to_value(&value) {
            Ok(value) => ValueChange::Put(value),
            Err(error) => ValueChange::Broken(Arc::new(error)),
        };
        self.change(key.into(), change)
    }

    /// Deletes a key; nothing happens if it is absent.
    pub fn remove(self, key: impl Into<Arc<str>>) -> Self {
        self.change(key.into(), ValueChange::Remove)
    }

    /// Sets the list of a key to exactly these items, whatever its strategy.
    pub fn replace_all(self, key: impl Into<Arc<str>>, items: Vec<Value>) -> Self {
        self.change(key.into(), ValueChange::ReplaceAll(items))
    }

    /// Takes the first item that equals this one out of the list of a key; nothing happens
    /// if there is none.
    pub fn remove_item(self, key: impl Into<Arc<str>>, item: Value) -> Self {
        self.change(key.into(), ValueChange::RemoveItem(item))
    }

    /// Adds a message at the end.
    pub fn message(mut self, message: Message) -> Self {
        self.messages.push(MessageChange::Push(message));
        self
    }

    /// Adds messages at the end, in order.
    pub fn messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.messages
            .extend(messages.into_iter().map(MessageChange::Push));
        self
    }

    /// Gives one open tool call its result.
    pub fn answer(mut self, result: ToolResult) -> Self {
        self.messages.push(MessageChange::Answer(result));
        self
    }

    /// Gives open tool calls their results.
    pub(crate) fn answers(mut self, results: Vec<ToolResult>) -> Self {
        let results = results.into_iter().map(MessageChange::Answer);
        self.messages.extend(results);
        self
    }

    /// Removes a message, with its whole group if it belongs to a tool call; nothing happens
    /// if there is none of this id.
    pub fn remove_message(mut self, id: MessageId) -> Self {
        self.messages.push(MessageChange::Remove(id));
        self
    }

    /// Replaces all messages by these.
    pub fn replace_messages(mut self, messages: Vec<Message>) -> Self {
        self.messages.push(MessageChange::ReplaceAll(messages));
        self
    }

    /// Adds the changes of another update behind these, as if they had been written here.
    pub fn extend(&mut self, other: Self) {
        self.values.extend(other.values);
        self.messages.extend(other.messages);
    }

    /// What it does to the messages.
    pub(crate) fn without_values(mut self) -> Self {
        self.values.clear();
        self
    }

    /// Gives an open call other arguments.
    pub(crate) fn edit_call(mut self, call_id: String, arguments: String) -> Self {
        self.messages
            .push(MessageChange::EditCall(call_id, arguments));
        self
    }

    /// The messages it adds.
    pub(crate) fn into_messages(self) -> Vec<Message> {
        let pushed = self.messages.into_iter().filter_map(|change| match change {
            MessageChange::Push(message) => Some(message),
            _ => None,
        });
        pushed.collect()
    }

    /// Takes the result of this tool call out of the update.
    pub(crate) fn take_answer(&mut self, call_id: &str) -> Option<ToolResult> {
        let is_it = |change: &MessageChange| matches!(change, MessageChange::Answer(result) if result.call_id == call_id);
        let position = self.messages.iter().position(is_it)?;
        match self.messages.remove(position) {
            MessageChange::Answer(result) => Some(result),
            _ => None,
        }
    }

    /// The ids of the tool calls that the update gives their results.
    pub(crate) fn answered(&self) -> impl Iterator<Item = &str> {
        let results = self.messages.iter().flat_map(|change| match change {
            MessageChange::Answer(result) => std::slice::from_ref(result),
            MessageChange::Push(message) => message.tool_results(),
            _ => &[],
        });
        results.map(|result| result.call_id.as_str())
    }

    /// True if nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.messages.is_empty()
    }

    /// The keys of the values, as often as they are written.
    pub(crate) fn value_keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.values.iter().map(|(key, _)| key)
    }

    pub(crate) fn changes_messages(&self) -> bool {
        !self.messages.is_empty()
    }

    /// The keys that are written, each once, in order; `messages` last if messages change.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let mut keys: Vec<&str> = self.value_keys().map(AsRef::as_ref).collect();
        keys.retain(|key| seen.insert(*key));
        if self.changes_messages() {
            keys.push(MESSAGES);
        }
        keys
    }

    /// The value that it writes to a key, the last if there are several. `None` if it writes none,
    /// or changes the key in another way.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Value> {
        let (_, change) = self.values.iter().rfind(|(name, _)| **name == *key)?;
        match change {
            ValueChange::Put(value) => Some(value),
            _ => None,
        }
    }

    /// The messages that it adds, in order, without results of tool calls that stand alone.
    pub fn new_messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter_map(|change| match change {
            MessageChange::Push(message) => Some(message),
            _ => None,
        })
    }

    fn change(mut self, key: Arc<str>, change: ValueChange) -> Self {
        self.values.push((key, change));
        self
    }
}

/// Refuses the key of the messages.
pub(super) fn check_key(key: &str) -> Result<(), StateError> {
    if key == MESSAGES {
        return Err(StateError::ReservedKey {
            key: key.to_owned(),
        });
    }
    Ok(())
}

impl From<()> for StateUpdate {
    fn from((): ()) -> Self {
        Self::new()
    }
}

impl From<Message> for StateUpdate {
    fn from(message: Message) -> Self {
        Self::new().message(message)
    }
}

impl From<Vec<Message>> for StateUpdate {
    fn from(messages: Vec<Message>) -> Self {
        Self::new().messages(messages)
    }
}
