//! A place in the text of a call's arguments, which moves over it once.
//!
//! It knows the text that models write nearly always: an object, no escapes in its names. At
//! anything else it stops, and [`split`](super::split) says what the text is.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{Json, after_space};

/// The part of an arguments object that is still to be read.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// Behind the object's bracket or a value, or before the value of a member that was moved to.
    json: Json<'a>,
    /// Where the value that was read last begins and ends.
    last: (usize, usize),
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
    /// The cursor behind the object's bracket; `None` if the text does not begin like an object.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let (mut json, last) = (Json::new(text), (0, 0));
        let is_object = json.peek() == b'{' && json.object() == Ok(true);
        is_object.then_some(Self { text, json, last })
    }

    /// The place of the next member's value if it has that name, which needs no escapes.
    pub(super) fn value_of(&self, name: &str) -> Option<usize> {
        self.json.value_of(name)
    }

    /// True if the object ends here, and the text with it.
    pub(super) fn is_at_end(&self) -> bool {
        let mut json = self.json.clone();
        matches!(json.name(), Ok(None)) && json.end().is_ok()
    }

    /// Moves to the value of the next member.
    pub(super) fn next(&mut self) -> Next<'a> {
        match self.json.name() {
            Ok(Some(name)) if !name.has_escapes => {
                self.json.peek();
                Next::Member(name.text)
            }
            Ok(None) if self.json.end().is_ok() => Next::End,
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
        let last = (at, at + length);
        let bytes = self.text.as_bytes();
        let behind = after_space(bytes, last.1);
        if !matches!(bytes.get(behind)?, b',' | b'}') {
            return None;
        }
        self.json.go_to(behind);
        self.last = last;
        Some(value)
    }

    /// Moves past the value at the cursor, whatever it is.
    pub(super) fn raw(&mut self) -> Option<&'a RawValue> {
        self.value(self.json.at(), by_serde)
    }

    /// The text of the value that was read last.
    pub(super) fn last(&self) -> &'a str {
        let (from, to) = self.last;
        self.text.get(from..to).unwrap_or_default()
    }
}

/// Reads a value at the start of a text, as its type's `Deserialize` does; beside it there is
/// its length.
pub(super) fn by_serde<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}
