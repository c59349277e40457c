//! The arguments of a call: what they mean, and whether they can be used.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smol_str::SmolStr;

use super::flat::is_flat_object;
use super::repair::repair;

/// Why a call's arguments cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidArguments {
    /// The text ends in the middle of a value.
    Truncated,
    /// The text is not JSON.
    InvalidJson,
    /// The text is JSON, but no object.
    NotAnObject,
    /// One key stands twice, so there are two readings.
    DuplicateKey,
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the arguments are truncated",
            Self::InvalidJson => "the arguments are not valid JSON",
            Self::NotAnObject => "the arguments are not a JSON object",
            Self::DuplicateKey => "the arguments hold one key twice",
        })
    }
}

/// The arguments that a text means, and why they cannot be used, if they cannot.
pub(super) fn normalise(text: SmolStr) -> (SmolStr, Option<InvalidArguments>) {
    if is_flat_object(&text) {
        return (text, None);
    }
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return (SmolStr::new_static("{}"), None);
    }
    if trimmed.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(trimmed)
        && check(&inner).is_none()
    {
        return (inner.into(), None);
    }
    let invalid = check(&text);
    if invalid == Some(InvalidArguments::InvalidJson)
        && let Some(repaired) = repair(&text)
        && check(&repaired).is_none()
    {
        return (repaired.into(), None);
    }
    (text, invalid)
}

pub(super) fn check(text: &str) -> Option<InvalidArguments> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match deserializer.deserialize_any(ObjectShape) {
        Ok(shape) => match deserializer.end() {
            Ok(()) => shape,
            Err(_) => Some(InvalidArguments::InvalidJson),
        },
        Err(error) if error.is_eof() => Some(InvalidArguments::Truncated),
        Err(error) if error.is_data() => match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Some(InvalidArguments::NotAnObject),
            Err(error) if error.is_eof() => Some(InvalidArguments::Truncated),
            Err(_) => Some(InvalidArguments::InvalidJson),
        },
        Err(_) => Some(InvalidArguments::InvalidJson),
    }
}

/// Walks an object without building it, and notices a key that stands twice.
struct ObjectShape;

impl<'de> Visitor<'de> for ObjectShape {
    type Value = Option<InvalidArguments>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut keys = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            map.next_value::<Walked>()?;
            keys.push(key);
        }
        keys.sort_unstable();
        let has_twin = keys.windows(2).any(|pair| pair[0] == pair[1]);
        Ok(has_twin.then_some(InvalidArguments::DuplicateKey))
    }
}

/// The key of an object, copied only where it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// A value that can be read, and is not kept. `IgnoredAny` also takes what no [`Value`] can be: a
/// surrogate alone, a number out of range, more levels than serde_json reads.
struct Walked;

impl<'de> Deserialize<'de> for Walked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Walked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}
