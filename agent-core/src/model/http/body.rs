//! A request body of many pieces: what others keep is shared, and copied no earlier than it is sent.

use std::sync::Arc;

use serde_json::{Map, Value};

/// A piece of a body's text: of a kept text, if it is one.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    text: Text,
    from: usize,
    to: usize,
}

#[derive(Debug, Clone)]
enum Text {
    Kept(Arc<str>),
    Grown(Arc<String>),
    Static(&'static str),
    Own(String),
}

impl Piece {
    pub(crate) fn as_str(&self) -> &str {
        let text: &str = match &self.text {
            Text::Kept(text) => text,
            Text::Grown(text) => text,
            Text::Static(text) => text,
            Text::Own(text) => text,
        };
        text.get(self.from..self.to).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.from >= self.to
    }

    /// Takes bytes away at the beginning.
    pub(crate) fn cut_first(&mut self, bytes: usize) {
        self.from += bytes;
    }

    /// Takes bytes away at the end.
    #[cfg(feature = "anthropic")]
    pub(crate) fn cut_last(&mut self, bytes: usize) {
        self.to = self.to.saturating_sub(bytes);
    }
}

impl From<&Arc<str>> for Piece {
    fn from(text: &Arc<str>) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Kept(Arc::clone(text)),
        }
    }
}

impl From<Arc<String>> for Piece {
    fn from(text: Arc<String>) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Grown(text),
        }
    }
}

impl From<&'static str> for Piece {
    fn from(text: &'static str) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Static(text),
        }
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Own(text),
        }
    }
}

/// The fields that end an object which has others before, with its closing brace.
pub(crate) fn closing(fields: Map<String, Value>) -> Piece {
    if fields.is_empty() {
        return "}".into();
    }
    let mut text = Value::from(fields).to_string();
    text.replace_range(..1, ",");
    text.into()
}

/// The text that pieces make together.
pub(crate) fn text_of(pieces: &[Piece]) -> String {
    pieces.iter().map(Piece::as_str).collect()
}
