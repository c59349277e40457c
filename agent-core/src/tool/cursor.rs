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
    /// The object's bracket, what ends a member, or the value of a member that was moved to.
    at: usize,
    /// Where the value began that was read last.
    last: usize,
}

/// What stands at the cursor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next<'a> {
    /// A member of that name; the cursor is before its value.
    Member(&'a str),
    /// The end of the object and of the text.
    End,
    /// Something else.
    Other,
}

impl<'a> Cursor<'a> {
    /// The cursor at the object's bracket; `None` if the text does not begin like an object.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let at = 0;
        text.starts_with('{').then_some(Self { text, at, last: at })
    }

    /// The place of the next member's value if it has that name, which needs no escapes.
    pub(super) fn value_of(&self, name: &str) -> Option<usize> {
        let rest = self.after_separator()?;
        let [b'"', rest @ ..] = rest else { return None };
        let (given, rest) = rest.split_at_checked(name.len())?;
        let [b'"', rest @ ..] = rest else { return None };
        if given != name.as_bytes() {
            return None;
        }
        let [b':', rest @ ..] = after_space(rest) else {
            return None;
        };
        Some(self.text.len() - after_space(rest).len())
    }

    /// True if the object ends here, and the text with it.
    pub(super) fn is_at_end(&self) -> bool {
        match self.rest() {
            [b'{', rest @ ..] => after_space(rest) == b"}",
            rest => rest == b"}",
        }
    }

    /// Moves to the value of the next member.
    pub(super) fn next(&mut self) -> Next<'a> {
        if self.is_at_end() {
            return Next::End;
        }
        let name = self.after_separator().and_then(|rest| {
            let [b'"', rest @ ..] = rest else { return None };
            let start = self.text.len() - rest.len();
            Some(&self.text[start..start + length_of_name(rest)?])
        });
        match name.map(|name| (name, self.value_of(name))) {
            Some((name, Some(at))) => {
                self.at = at;
                Next::Member(name)
            }
            _ => Next::Other,
        }
    }

    /// True if the value at that place is `null`.
    pub(super) fn is_null(&self, at: usize) -> bool {
        self.text[at..].starts_with("null")
    }

    /// Reads the value at a place and moves past it, or does nothing if `read` cannot.
    /// Beside the value, `read` gives its length.
    pub(super) fn value<T>(
        &mut self,
        at: usize,
        read: impl FnOnce(&'a str) -> Option<(T, usize)>,
    ) -> Option<T> {
        let (value, length) = read(&self.text[at..])?;
        let rest = after_space(self.text.as_bytes().get(at + length..)?);
        if !matches!(rest, [b',' | b'}', ..]) {
            return None;
        }
        self.last = at;
        self.at = self.text.len() - rest.len();
        Some(value)
    }

    /// Moves past the value at the cursor, whatever it is.
    pub(super) fn raw(&mut self) -> Option<&'a RawValue> {
        self.value(self.at, plain)
    }

    /// The text of the value that was read last.
    pub(super) fn last(&self) -> &'a str {
        self.text[self.last..self.at].trim_end()
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// What follows the object's bracket or the comma after a member.
    fn after_separator(&self) -> Option<&'a [u8]> {
        match self.rest() {
            [b'{' | b',', rest @ ..] => Some(after_space(rest)),
            _ => None,
        }
    }
}

fn after_space(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\n' | b'\t' | b'\r', rest @ ..] = text {
        text = rest;
    }
    text
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
