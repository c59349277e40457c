//! What a run knows: keys with JSON values, and the messages.
//!
//! A [`State`] is a cheap snapshot. It changes in one way only: a [`StateUpdate`] is joined
//! into it by the [`KeyStrategies`], as a whole or not at all.
//!
//! Not here: who makes updates (`graph`, `tool`), and how messages pair (`message`).

mod apply;
pub(crate) mod delta;
mod error;
mod key;
mod key_strategy;
mod update;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::message::{Message, Role, Transcript};

pub use apply::KeyStrategies;
pub use error::StateError;
pub use key::StateKey;
pub use key_strategy::{CustomStrategy, KeyStrategy};
pub use update::StateUpdate;

/// The key under which the messages stand; no value can be written to it.
pub(crate) const MESSAGES: &str = "messages";

/// What a run knows at one moment: JSON values by key, and the messages.
///
/// Cloning is cheap: clones share everything until one of them is changed.
///
/// ```
/// use agent_core::graph::{KeyStrategies, State, StateKey, StateUpdate};
///
/// const CITY: StateKey<String> = StateKey::new("city");
///
/// let mut state = State::new();
/// KeyStrategies::new().apply(&mut state, StateUpdate::new().with(CITY, "Oslo".into()))?;
///
/// assert_eq!(state.get(&CITY)?, Some("Oslo".into()));
/// # Ok::<(), agent_core::graph::StateError>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct State {
    values: Arc<BTreeMap<Arc<str>, Arc<Value>>>,
    transcript: Transcript,
}

impl State {
    /// A state without keys and messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of a key as its type; `None` if the key is absent or null.
    ///
    /// # Errors
    ///
    /// [`StateError::WrongType`] if the value does not fit the type of the key, and
    /// [`StateError::ReservedKey`] for `messages`, which [`State::messages`] reads.
    pub fn get<T: DeserializeOwned>(&self, key: &StateKey<T>) -> Result<Option<T>, StateError> {
        if key.name() == MESSAGES {
            return Err(StateError::ReservedKey {
                key: MESSAGES.to_owned(),
            });
        }
        match self.value(key.name()) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::deserialize(value)
                .map(Some)
                .map_err(|error| StateError::WrongType {
                    key: key.name().to_owned(),
                    expected: std::any::type_name::<T>(),
                    source: error.into(),
                }),
        }
    }

    /// The JSON value of a key, if it is there. The messages are no such value.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key).map(AsRef::as_ref)
    }

    /// The keys that have a value, sorted; `messages` is not among them.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(AsRef::as_ref)
    }

    /// The messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.transcript.messages()
    }

    /// The messages with what is known about open tool calls.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The whole state as one JSON object, for logs and displays.
    ///
    /// Messages, if there are any, stand under `messages` in a short form (id, role, text,
    /// tool calls) from which they cannot be read back.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object: Map<String, Value> = self
            .values
            .iter()
            .map(|(key, value)| (key.to_string(), value.as_ref().clone()))
            .collect();
        if !self.messages().is_empty() {
            let messages = self.messages().iter().map(message_value).collect();
            object.insert(MESSAGES.to_owned(), Value::Array(messages));
        }
        Value::Object(object)
    }

    /// The transcript, to be changed in place; clones of this state do not see it.
    pub(crate) fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }
}

fn message_value(message: &Message) -> Value {
    let role = match message.role() {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let mut value = json!({
        "id": message.id().as_str(),
        "role": role,
        "text": message.text(),
    });
    let calls: Vec<Value> = message
        .tool_calls()
        .iter()
        .map(|call| json!({"id": call.id, "name": call.name, "arguments": call.arguments}))
        .collect();
    if !calls.is_empty() {
        value["tool_calls"] = Value::Array(calls);
    }
    value
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("values", &self.values)
            .field("messages", &self.messages())
            .finish()
    }
}
