//! JSON text into bytes, as `const fn`.
//!
//! A text is written twice by the same code: once into no bytes at all, which gives its
//! length, then into an array of that length.

use super::Schema;
use super::definitions::{Definitions, OUTSIDE};

/// Writes JSON into `bytes` and counts what it wrote, also beyond their end.
pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    length: usize,
    pub(super) definitions: Definitions,
    /// The definition in which the writing is.
    pub(super) scope: usize,
    /// True if the definitions are still to be written into the object at the root.
    pub(super) pending: bool,
    parts: usize,
    wanted: usize,
    found: Option<Schema>,
}

impl<'a> Writer<'a> {
    /// The key that stands for the n-th part known at run time only, in order of writing.
    pub(crate) const PART: &'static str = "$part";

    pub(crate) const fn new(bytes: &'a mut [u8]) -> Self {
        Self {
            bytes,
            length: 0,
            definitions: Definitions::new(),
            scope: OUTSIDE,
            pending: false,
            parts: 0,
            wanted: 0,
            found: None,
        }
    }

    /// The parts that `write` leaves marks for, in order of writing.
    pub(crate) fn parts_of(write: impl Fn(&mut Writer<'_>)) -> Vec<Schema> {
        let mut parts = Vec::new();
        loop {
            let mut writer = Writer::new(&mut []);
            writer.wanted = parts.len();
            write(&mut writer);
            match writer.found {
                Some(part) => parts.push(part),
                None => return parts,
            }
        }
    }

    /// Leaves a mark for what is known at run time only.
    pub(super) const fn part(&mut self, part: &Schema) {
        if self.parts == self.wanted {
            self.found = Some(*part);
        }
        self.string(Self::PART);
        self.byte(b':');
        self.integer(self.parts as i64);
        self.parts += 1;
    }

    /// What `write` writes, as text at run time.
    pub(crate) fn text_of(write: impl Fn(&mut Writer<'_>)) -> String {
        let mut measure = Writer::new(&mut []);
        write(&mut measure);
        let mut bytes = vec![0; measure.length];
        write(&mut Writer::new(&mut bytes));
        // Only whole `str`s and ASCII were written, so nothing is lost.
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The number of bytes written so far.
    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    pub(super) const fn byte(&mut self, byte: u8) {
        if self.length < self.bytes.len() {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    pub(crate) const fn raw(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            self.byte(bytes[index]);
            index += 1;
        }
    }

    /// `text` in quotes, escaped as RFC 8259 asks and no further.
    pub(crate) const fn string(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut index = 0;
        self.byte(b'"');
        while index < bytes.len() {
            match bytes[index] {
                b'"' => self.raw("\\\""),
                b'\\' => self.raw("\\\\"),
                b'\n' => self.raw("\\n"),
                b'\r' => self.raw("\\r"),
                b'\t' => self.raw("\\t"),
                0x08 => self.raw("\\b"),
                0x0c => self.raw("\\f"),
                control @ 0..=0x1f => {
                    self.raw("\\u00");
                    self.byte(b'0' + (control >> 4));
                    self.byte(b"0123456789abcdef"[(control & 0xf) as usize]);
                }
                byte => self.byte(byte),
            }
            index += 1;
        }
        self.byte(b'"');
    }

    pub(super) const fn integer(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        let value = value.unsigned_abs();
        let mut power = 1;
        while value / power >= 10 {
            power *= 10;
        }
        while power > 0 {
            self.byte(b'0' + ((value / power) % 10) as u8);
            power /= 10;
        }
    }

    /// `,"keyword":value` if there is a value.
    pub(super) const fn number(&mut self, keyword: &str, value: Option<i64>) {
        if let Some(value) = value {
            self.byte(b',');
            self.string(keyword);
            self.byte(b':');
            self.integer(value);
        }
    }
}
