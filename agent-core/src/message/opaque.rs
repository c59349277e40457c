//! What a provider said that is neither text nor a tool call.

use std::borrow::Cow;

/// A part of an answer that only its provider understands: a signed piece of reasoning, for
/// example. It is kept byte for byte, sent back to that provider, and to no other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpaquePart {
    /// Who made it, for example `anthropic`.
    pub provider: Cow<'static, str>,
    /// The part as the provider wrote it, in JSON.
    pub json: String,
    /// It stands behind this many bytes of the answer's text.
    pub after_text: usize,
    /// It stands behind this many of the answer's tool calls.
    pub after_calls: usize,
}

impl OpaquePart {
    /// A part at the beginning of an answer.
    pub fn new(provider: impl Into<Cow<'static, str>>, json: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            json: json.into(),
            after_text: 0,
            after_calls: 0,
        }
    }

    /// The same behind so many bytes of text and so many calls.
    #[must_use]
    pub fn after(mut self, text: usize, calls: usize) -> Self {
        self.after_text = text;
        self.after_calls = calls;
        self
    }
}
