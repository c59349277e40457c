//! How a written value joins the one that is there. Pure functions over JSON values.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::StateError;
use super::update::ValueChange;
use crate::boxed::BoxError;
use crate::panics;

/// The function of [`KeyStrategy::Custom`]: the old value, if there is one, and the new one.
pub type CustomStrategy =
    Arc<dyn Fn(Option<&Value>, &Value) -> Result<Value, BoxError> + Send + Sync>;

/// How a written value joins the one that is there.
///
/// ```
/// use agent_core::graph::{KeyStrategies, KeyStrategy, State, StateUpdate};
/// use serde_json::json;
///
/// let strategies = KeyStrategies::new().with("log", KeyStrategy::Append);
/// let mut state = State::new();
/// strategies.apply(&mut state, StateUpdate::new().put("log", json!("a")))?;
/// strategies.apply(&mut state, StateUpdate::new().put("log", json!(["b", "c"])))?;
///
/// assert_eq!(state.value("log"), Some(&json!(["a", "b", "c"])));
/// # Ok::<(), agent_core::graph::StateError>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum KeyStrategy {
    /// The new value stands, also if it is null. The default.
    #[default]
    Replace,
    /// The new value, or each item of a new list, is added at the end of the list. An old
    /// value that is no list becomes the first item; a new null changes nothing.
    Append,
    /// As [`KeyStrategy::Append`], and of equal items only the first is kept.
    AppendDistinct,
    /// Objects are united, recursively. A new null keeps the old value; of two values that
    /// are no objects the new one stands; an object and something else is an error.
    Merge,
    /// A function of the old and the new value.
    Custom(CustomStrategy),
}

impl KeyStrategy {
    /// A strategy of one's own. It must not look at anything but its arguments.
    pub fn custom(
        join: impl Fn(Option<&Value>, &Value) -> Result<Value, BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self::Custom(Arc::new(join))
    }

    /// False if [`KeyStrategy::join`] always succeeds on well-formed changes.
    pub(super) fn can_fail(&self) -> bool {
        matches!(self, Self::Merge | Self::Custom(_))
    }

    /// Makes all changes of one key, in order.
    pub(super) fn join(
        &self,
        key: &str,
        old: Option<Value>,
        changes: Vec<ValueChange>,
    ) -> Result<Option<Value>, StateError> {
        // Items are removed from the part that was there before the update only.
        let mut old_items = match &old {
            None | Some(Value::Null) => 0,
            Some(Value::Array(items)) => items.len(),
            Some(_) => 1,
        };
        let mut value = old;
        for change in changes {
            match change {
                ValueChange::Put(new) => value = self.join_one(key, value, new)?,
                ValueChange::Broken(error) => {
                    return Err(StateError::Serialize {
                        key: key.to_owned(),
                        source: Box::new(error),
                    });
                }
                ValueChange::Remove => {
                    value = None;
                    old_items = 0;
                }
                ValueChange::ReplaceAll(items) => {
                    old_items = items.len();
                    value = Some(Value::Array(items));
                }
                ValueChange::RemoveItem(item) => {
                    if let Some(Value::Array(items)) = &mut value
                        && let Some(position) =
                            items.iter().take(old_items).position(|old| *old == item)
                    {
                        items.remove(position);
                        old_items -= 1;
                    }
                }
            }
        }
        if let (Self::AppendDistinct, Some(Value::Array(items))) = (self, &mut value) {
            distinct(items);
        }
        Ok(value)
    }

    fn join_one(
        &self,
        key: &str,
        old: Option<Value>,
        new: Value,
    ) -> Result<Option<Value>, StateError> {
        match self {
            Self::Replace => Ok(Some(new)),
            Self::Append | Self::AppendDistinct => Ok(append(old, new)),
            Self::Merge => match old {
                None => Ok(Some(new)),
                Some(old) => merge_all(key, old, new).map(Some),
            },
            Self::Custom(join) => {
                // It runs before the state is touched, so its panic leaves it whole.
                panics::caught(|| join(old.as_ref(), &new))
                    .unwrap_or_else(|| Err("it panicked".into()))
                    .map(Some)
                    .map_err(|source| StateError::Strategy {
                        key: key.to_owned(),
                        source,
                    })
            }
        }
    }
}

fn append(old: Option<Value>, new: Value) -> Option<Value> {
    if new.is_null() {
        return old;
    }
    let mut items = match old {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(value) => vec![value],
    };
    match new {
        Value::Array(new) => items.extend(new),
        new => items.push(new),
    }
    Some(Value::Array(items))
}

fn distinct(items: &mut Vec<Value>) {
    let mut seen = HashSet::with_capacity(items.len());
    let is_first: Vec<bool> = items.iter().map(|item| seen.insert(item)).collect();
    let mut is_first = is_first.into_iter();
    items.retain(|_| is_first.next().unwrap_or(true));
}

/// Merges a value of a key into the one that is there.
pub(super) fn merge_all(key: &str, old: Value, new: Value) -> Result<Value, StateError> {
    let mut path = Vec::new();
    merge(old, new, &mut path).map_err(|NotMergeable| StateError::Merge {
        key: key.to_owned(),
        path: pointer(&path),
    })
}

/// An object met something that is no object, at the path that was given.
struct NotMergeable;

fn merge(old: Value, new: Value, path: &mut Vec<String>) -> Result<Value, NotMergeable> {
    match (old, new) {
        (old, Value::Null) => Ok(old),
        (Value::Null, new) => Ok(new),
        (Value::Object(mut old), Value::Object(new)) => {
            for (name, new_value) in new {
                match old.get_mut(&name) {
                    None => {
                        old.insert(name, new_value);
                    }
                    Some(slot) => {
                        path.push(name);
                        *slot = merge(slot.take(), new_value, path)?;
                        path.pop();
                    }
                }
            }
            Ok(Value::Object(old))
        }
        (Value::Object(_), _) | (_, Value::Object(_)) => Err(NotMergeable),
        (_, new) => Ok(new),
    }
}

/// A path as in RFC 6901, "JavaScript Object Notation (JSON) Pointer".
fn pointer(path: &[String]) -> String {
    path.iter()
        .map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
        .collect()
}

impl fmt::Debug for KeyStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replace => "Replace",
            Self::Append => "Append",
            Self::AppendDistinct => "AppendDistinct",
            Self::Merge => "Merge",
            Self::Custom(_) => "Custom(..)",
        })
    }
}
