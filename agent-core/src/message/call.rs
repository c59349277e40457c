//! A tool call and its result, as they stand in a history.
//!
//! Arguments stay the text the model wrote. A call whose arguments are no single JSON
//! object is kept, marked, never run, and answered with an error.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use smallvec::smallvec;
use smol_str::SmolStr;

use super::content::{ContentPart, Parts, parts, text_of};
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

/// A model's request to run one tool. Its texts are shared, so a clone copies none.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub(crate) id: SmolStr,
    pub(crate) name: SmolStr,
    pub(crate) arguments: SmolStr,
    pub(crate) invalid: Option<InvalidArguments>,
    pub(crate) extra: Map<String, Value>,
}

impl ToolCall {
    /// A call with its arguments as the model wrote them.
    ///
    /// Empty text and `null` mean no arguments and become `{}`; an object inside a
    /// JSON string is unwrapped once. Broken JSON is repaired if there is exactly one way
    /// to read it (a comma too many, a Markdown fence, Python's quotes). Any other text is
    /// kept as it is and marked if it is no object.
    pub fn new(id: impl AsRef<str>, name: impl AsRef<str>, arguments: impl AsRef<str>) -> Self {
        Self::of(
            SmolStr::new(id),
            SmolStr::new(name),
            SmolStr::new(arguments),
        )
    }

    /// As [`new`](Self::new), of texts that are shared already.
    pub(crate) fn of(id: SmolStr, name: SmolStr, arguments: SmolStr) -> Self {
        let (arguments, invalid) = normalise(arguments);
        Self {
            id,
            name,
            arguments,
            invalid,
            extra: Map::new(),
        }
    }

    /// A call that was cut off before a word of its arguments: that it has none is not known.
    pub(crate) fn begun(id: SmolStr, name: SmolStr) -> Self {
        Self {
            id,
            name,
            arguments: SmolStr::default(),
            invalid: Some(InvalidArguments::Truncated),
            extra: Map::new(),
        }
    }

    /// The provider's id of this call, unique within its message.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name the model wrote.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as JSON text: an object, unless [`invalid`](Self::invalid) says otherwise.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// The arguments as a JSON value; `None` if they are invalid.
    #[must_use]
    pub fn arguments_value(&self) -> Option<Value> {
        match self.invalid {
            Some(_) => None,
            None => serde_json::from_str(&self.arguments).ok(),
        }
    }

    /// The same call with other arguments, read as [`new`](Self::new) reads them.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl AsRef<str>) -> Self {
        self.set_arguments(SmolStr::new(arguments));
        self
    }

    pub(crate) fn set_arguments(&mut self, arguments: SmolStr) {
        (self.arguments, self.invalid) = normalise(arguments);
    }

    /// Why the arguments cannot be used, if they cannot; the call is then never run.
    #[must_use]
    pub fn invalid(&self) -> Option<InvalidArguments> {
        self.invalid
    }

    /// Fields of the call that no client of ours knows; it echoes them when it sends the call back.
    #[must_use]
    pub fn extra(&self) -> &Map<String, Value> {
        &self.extra
    }

    /// The same call with these further fields.
    #[must_use]
    pub fn with_extra(mut self, extra: Map<String, Value>) -> Self {
        self.extra = extra;
        self
    }
}

fn normalise(text: SmolStr) -> (SmolStr, Option<InvalidArguments>) {
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

/// What one tool call gave, as the model will read it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub(crate) call_id: SmolStr,
    pub(crate) name: SmolStr,
    pub(crate) content: Parts,
    pub(crate) is_error: bool,
}

impl ToolResult {
    /// The result of a call that went well.
    #[must_use]
    pub fn ok(call: &ToolCall, content: Vec<ContentPart>) -> Self {
        Self::of(call, parts(content))
    }

    /// As [`ok`](Self::ok), of parts that are not in a list.
    pub(crate) fn of(call: &ToolCall, content: Parts) -> Self {
        Self {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content,
            is_error: false,
        }
    }

    /// The result of a call that failed, in words for the model.
    pub fn error(call: &ToolCall, text: impl Into<String>) -> Self {
        Self {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: smallvec![ContentPart::Text(text.into())],
            is_error: true,
        }
    }

    /// The same result, of a call that failed.
    #[must_use]
    pub fn into_error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// The id of the call this answers.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The name of the tool as the model wrote it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model reads, in order.
    #[must_use]
    pub fn content(&self) -> &[ContentPart] {
        &self.content
    }

    /// True if the call failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// The text parts, joined by a line break.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// As [`text`](Self::text), not copied if it is one part.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(crate) fn joined_text(&self) -> Cow<'_, str> {
        match &self.content[..] {
            [ContentPart::Text(text)] => Cow::Borrowed(text),
            parts => text_of(parts).into(),
        }
    }
}
