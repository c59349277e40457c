//! A place in the text of a call's arguments, which moves over it once.
//!
//! It knows the text that models write nearly always: an object, no escapes in its names. At
//! anything else it stops, and [`split`](super::split) says what the text is.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The part of an arguments object that is still to be read.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Where the value began that was read last.
    last: usize,
    is_first: bool,
}

/// What stands at the cursor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next<'a> {
    /// The member of the name that was expected; the cursor is before its value.
    Expected,
    /// A member of another name.
    Member(&'a str),
    /// The end of the object and of the text.
    End,
    /// Something else.
    Other,
}

impl<'a> Cursor<'a> {
    /// The cursor at the first member; `None` if the text does not begin like an object.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        text.starts_with('{').then_some(Self {
            text,
            at: 1,
            last: 1,
            is_first: true,
        })
    }

    /// Moves to the value of the next member. An expected name needs no escapes.
    pub(super) fn next(&mut self, expected: &str) -> Next<'a> {
        let mut at = self.after_space(self.at);
        match self.byte(at) {
            Some(b'}') if at + 1 == self.text.len() => return Next::End,
            Some(b',') if !self.is_first => at = self.after_space(at + 1),
            _ if self.is_first => {}
            _ => return Next::Other,
        }
        if self.byte(at) != Some(b'"') {
            return Next::Other;
        }
        let rest = &self.text.as_bytes()[at + 1..];
        let is_expected =
            rest.starts_with(expected.as_bytes()) && rest.get(expected.len()) == Some(&b'"');
        let length = if is_expected {
            expected.len()
        } else {
            match length_of_name(rest) {
                Some(length) => length,
                None => return Next::Other,
            }
        };
        let name = at + 1;
        at = self.after_space(name + length + 1);
        if self.byte(at) != Some(b':') {
            return Next::Other;
        }
        self.at = self.after_space(at + 1);
        self.is_first = false;
        if is_expected {
            Next::Expected
        } else {
            Next::Member(&self.text[name..name + length])
        }
    }

    /// True if the value at the cursor is `null`.
    pub(super) fn is_null(&self) -> bool {
        self.text[self.at..].starts_with("null")
    }

    /// Reads the value at the cursor and moves past it, or does nothing if `read` cannot.
    /// Beside the value, `read` gives its length.
    pub(super) fn value<T>(
        &mut self,
        read: impl FnOnce(&'a str) -> Option<(T, usize)>,
    ) -> Option<T> {
        let (value, length) = read(&self.text[self.at..])?;
        let end = self.after_space(self.at + length);
        if !matches!(self.byte(end), Some(b',' | b'}')) {
            return None;
        }
        self.last = self.at;
        self.at = end;
        Some(value)
    }

    /// Moves past the value at the cursor, whatever it is.
    pub(super) fn raw(&mut self) -> Option<&'a RawValue> {
        self.value(plain)
    }

    /// The text of the value that was read last.
    pub(super) fn last(&self) -> &'a str {
        self.text[self.last..self.at].trim_end()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn after_space(&self, mut at: usize) -> usize {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte(at) {
            at += 1;
        }
        at
    }
}

/// Reads a value at the start of a text, as its type's `Deserialize` does; beside it there is
/// its length.
pub(super) fn plain<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// The length of a name up to its closing quote, if it has no escapes.
fn length_of_name(text: &[u8]) -> Option<usize> {
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    let length = text.iter().position(is_end)?;
    (text[length] == b'"').then_some(length)
}
