//! Texts that were cut in the middle of a character.
//!
//! JSON writes a character beyond U+FFFF as two halves. Python servers whose token ends between them,
//! and gateways in JavaScript that cut a text by its UTF-16, send each half in a piece of its own.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;

const UNKNOWN: char = char::REPLACEMENT_CHARACTER;

/// A piece of a text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Cut<'a> {
    /// The second half of the character that the piece before ended with.
    pub(super) low: Option<u16>,
    /// All but the halves.
    pub(crate) text: Cow<'a, str>,
    /// The first half of a character that goes on in the next piece.
    pub(super) high: Option<u16>,
}

impl<'a> Cut<'a> {
    /// True if there is not even a half.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.low.is_none() && self.high.is_none()
    }

    /// The text of a piece that nothing stands before or behind; U+FFFD for a half.
    pub(crate) fn whole(mut self) -> Cow<'a, str> {
        let mut seam = Seam::default();
        seam.mend(&mut self);
        self.text += seam.end();
        self.text
    }
}

impl<'a> From<Cow<'a, str>> for Cut<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        let (low, high) = (None, None);
        Self { low, text, high }
    }
}

/// Between the pieces of one text: holds a first half back until the second comes.
#[derive(Debug, Default)]
pub(crate) struct Seam(Option<u16>);

impl Seam {
    /// Makes the text of the next piece begin and end with whole characters.
    pub(crate) fn mend(&mut self, piece: &mut Cut<'_>) {
        if piece.is_empty() {
            return;
        }
        let (first, low) = (self.0, piece.low.take());
        self.0 = piece.high.take();
        let begins = match (first, low) {
            (None, None) => return,
            (Some(high), Some(low)) => char::decode_utf16([high, low])
                .next()
                .and_then(Result::ok)
                .unwrap_or(UNKNOWN),
            _ => UNKNOWN,
        };
        piece.text.to_mut().insert(0, begins);
    }

    /// What stands for a half that never met its other one; nothing if there is none.
    pub(crate) fn end(&mut self) -> &'static str {
        self.0.take().map_or("", |_| "\u{fffd}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::quoted::cut;
    use super::*;

    fn joined(pieces: &[&str]) -> String {
        let mut seam = Seam::default();
        let mut all = String::new();
        for piece in pieces {
            let mut piece = cut(piece);
            seam.mend(&mut piece);
            all.push_str(&piece.text);
        }
        all + seam.end()
    }

    #[test]
    fn halves_in_pieces_of_their_own_are_one_character() {
        assert_eq!(joined(&[r"a\ud83d", r"\ude80b"]), "a🚀b");
        assert_eq!(joined(&[r"\ud83d", "", r"\ude80"]), "🚀");
        assert_eq!(joined(&[r"\ud83d", r"\ude80\uD83D", r"\uDE80"]), "🚀🚀");
        assert_eq!(joined(&[r"\ud83d\ude80", r"\ud83d\ude80"]), "🚀🚀");
    }

    #[test]
    fn a_half_without_the_other_is_a_replacement_character() {
        assert_eq!(joined(&[r"a\ud83d"]), "a\u{fffd}");
        assert_eq!(joined(&[r"a\ud83d", "b"]), "a\u{fffd}b");
        assert_eq!(joined(&["a", r"\ude80b"]), "a\u{fffd}b");
        assert_eq!(joined(&[r"\ud83d", r"\ud83d"]), "\u{fffd}\u{fffd}");
        assert_eq!(joined(&[r"\ude80", r"\ud83d"]), "\u{fffd}\u{fffd}");
        assert_eq!(joined(&[r"a\\ud83d", r"\\ude80"]), r"a\ud83d\ude80");
        assert_eq!(cut(r"\ude80a\ud83d").whole(), "\u{fffd}a\u{fffd}");
    }
}
