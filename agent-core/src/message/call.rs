//! A tool call and its result, as they stand in a history.
//!
//! Arguments stay the text the model wrote. A call whose arguments are no single JSON
//! object is kept, marked, never run, and answered with an error.

use std::borrow::Cow;

use serde_json::{Map, Value};
use smallvec::smallvec;
use smol_str::SmolStr;

use super::arguments::{InvalidArguments, normalise};
use super::content::{ContentPart, Parts, parts, text_of};

/// A model's request to run one tool. Its texts are shared, so a clone copies none.
///
/// ```
/// use agent_core::message::{InvalidArguments, ToolCall};
///
/// let call = ToolCall::new("call_1", "get_weather", r#"{"city":"Oslo",}"#);
/// assert_eq!(call.arguments(), r#"{"city":"Oslo"}"#);
///
/// let cut = call.with_arguments(r#"{"city":"#);
/// assert_eq!(cut.invalid(), Some(InvalidArguments::Truncated));
/// ```
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

/// What one tool call gave, as the model will read it.
///
/// ```
/// use agent_core::message::{ToolCall, ToolResult};
///
/// let call = ToolCall::new("call_1", "get_weather", "{}");
/// let result = ToolResult::ok(&call, vec!["21 degrees".into()]);
/// assert_eq!((result.call_id(), result.is_error()), ("call_1", false));
/// ```
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
