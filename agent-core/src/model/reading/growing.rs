//! Arguments that some servers send again in each piece, as far as they are written.
//!
//! What such pieces come to is no JSON, and the last of them is all that was meant. It is decided
//! when all are there: until then a piece may as well be the beginning of an object in a text.
//! <https://github.com/NousResearch/hermes-agent/pull/35718>

use serde::de::IgnoredAny;

/// Whether each piece so far began with the one before it.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    /// Where the last piece begins in the text of all.
    last: usize,
    form: Form,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Form {
    #[default]
    Empty,
    /// One piece so far.
    One,
    Grows,
    Other,
}

impl Growing {
    /// Notes a piece before it is added to the text of those before it.
    pub(crate) fn note(&mut self, text: &str, piece: &str) {
        if piece.is_empty() || self.form == Form::Other {
            return;
        }
        let before = text.get(self.last..).unwrap_or_default();
        self.form = match self.form {
            Form::Empty if piece.starts_with('{') => Form::One,
            Form::One | Form::Grows if piece.starts_with(before) => Form::Grows,
            _ => Form::Other,
        };
        self.last = text.len();
    }

    /// Leaves the last piece in the text if that is the only way to read it.
    pub(crate) fn end(&self, text: &mut String) {
        if self.form == Form::Grows && !is_json(text) && text.get(self.last..).is_some_and(is_json)
        {
            text.drain(..self.last);
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(pieces: &[&str]) -> String {
        let (mut growing, mut text) = (Growing::default(), String::new());
        for piece in pieces {
            growing.note(&text, piece);
            text.push_str(piece);
        }
        growing.end(&mut text);
        text
    }

    #[test]
    fn of_pieces_that_grow_the_last_is_meant() {
        assert_eq!(meant(&["{", r#"{"a""#, "", r#"{"a":1}"#]), r#"{"a":1}"#);
        assert_eq!(
            meant(&[r#"{"a":1"#, r#"{"a":1}"#, r#"{"a":1}"#]),
            r#"{"a":1}"#
        );
    }

    #[test]
    fn what_can_be_read_as_it_is_stays() {
        for pieces in [
            &["{ ", r#"{"a":1"#][..],
            &[r#"{"t":""#, r#"{\"t\":\""#, r#"x"}"#],
            &[r#"{"a""#, r#":1}"#],
            &[r#"{"a""#, r#"{"a":1"#],
            &[r#"{"a":1}"#],
            &[],
        ] {
            assert_eq!(meant(pieces), pieces.concat());
        }
    }
}
