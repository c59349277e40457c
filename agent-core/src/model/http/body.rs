//! A request body of many pieces with a known length, so that none is copied.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

/// From this size on a piece is written by itself; shorter ones are cheaper to copy than to write.
const LARGE: usize = 64 * 1024;

/// A piece of a body's text: of a kept text, if it is one.
#[derive(Debug, Clone)]
pub(crate) struct Piece<'a> {
    text: Text<'a>,
    from: usize,
    to: usize,
}

#[derive(Debug, Clone)]
enum Text<'a> {
    Kept(&'a Arc<str>),
    Grown(Arc<String>),
    Static(&'static str),
    Own(String),
}

impl Piece<'_> {
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

impl<'a> From<&'a Arc<str>> for Piece<'a> {
    fn from(text: &'a Arc<str>) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Kept(text),
        }
    }
}

impl From<Arc<String>> for Piece<'_> {
    fn from(text: Arc<String>) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Grown(text),
        }
    }
}

impl From<&'static str> for Piece<'_> {
    fn from(text: &'static str) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Static(text),
        }
    }
}

impl From<String> for Piece<'_> {
    fn from(text: String) -> Self {
        Self {
            from: 0,
            to: text.len(),
            text: Text::Own(text),
        }
    }
}

/// The same text in few chunks: neighbours that are short become one, a long text is shared.
///
/// A history of many turns is many short texts, and each write of a few wakes the other end.
pub(crate) fn joined(pieces: &[Piece<'_>]) -> Vec<Bytes> {
    let is_short = |piece: &&Piece<'_>| piece.to - piece.from < LARGE;
    let short = pieces.iter().filter(is_short);
    let short: usize = short.map(|piece| piece.to - piece.from).sum();
    let mut joined = Vec::new();
    let mut run = Vec::with_capacity(short);
    for piece in pieces {
        match &piece.text {
            Text::Kept(text) if !is_short(&piece) => {
                joined.push(Bytes::from(std::mem::take(&mut run)));
                joined.push(shared(Arc::clone(text)).slice(piece.from..piece.to));
            }
            Text::Grown(text) if !is_short(&piece) => {
                joined.push(Bytes::from(std::mem::take(&mut run)));
                joined.push(shared(Arc::clone(text)).slice(piece.from..piece.to));
            }
            _ => run.extend_from_slice(piece.as_str().as_bytes()),
        }
    }
    joined.push(Bytes::from(run));
    joined
}

/// The bytes of a shared text, without a copy.
fn shared<T: AsRef<str> + ?Sized + Send + Sync + 'static>(text: Arc<T>) -> Bytes {
    struct Owner<T: ?Sized>(Arc<T>);

    impl<T: AsRef<str> + ?Sized> AsRef<[u8]> for Owner<T> {
        fn as_ref(&self) -> &[u8] {
            (*self.0).as_ref().as_bytes()
        }
    }

    Bytes::from_owner(Owner(text))
}

/// The fields that end an object which has others before, with its closing brace.
pub(crate) fn closing(fields: Map<String, Value>) -> Piece<'static> {
    if fields.is_empty() {
        return "}".into();
    }
    let mut text = Value::from(fields).to_string();
    text.replace_range(..1, ",");
    text.into()
}

/// The text that pieces make together.
pub(crate) fn text_of(pieces: &[Piece<'_>]) -> String {
    pieces.iter().map(Piece::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pieces_become_one_and_long_ones_stay_shared() {
        let long: Arc<str> = "x".repeat(LARGE + 1).into();
        let mut pieces = [
            Piece::from("a"),
            Piece::from("b".to_owned()),
            Piece::from(&long),
            Piece::from("cd"),
        ];
        pieces[2].cut_first(1);
        pieces[3].cut_last(1);

        let joined = joined(&pieces);

        assert_eq!(joined, [&b"ab"[..], &long.as_bytes()[1..], b"c"]);
        assert_eq!(joined[1].as_ptr(), long[1..].as_ptr());
        assert_eq!(text_of(&pieces), format!("ab{}c", &long[1..]));
    }
}
