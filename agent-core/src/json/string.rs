//! The strings of a JSON text.

/// What stands between the quotes of a string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'a> {
    pub(crate) text: &'a str,
    pub(crate) has_escapes: bool,
}

impl<'a> Quoted<'a> {
    /// What the string says, if that needs no escapes.
    pub(crate) fn plain(self) -> Option<&'a str> {
        (!self.has_escapes).then_some(self.text)
    }
}

/// Where, from `at` on, the first byte stands that is no plain part of a string: a quote, a
/// backslash or a control character. Looks at eight bytes at once.
pub(crate) fn end_of_plain(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The high bit of each byte that is less than `least`; a borrow may set more behind the first.
    let below = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = (quote | backslash | below(word, 0x20)) & HIGH;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let is_plain = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | 0..0x20);
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(is_plain).count()
}

/// Where the string ends whose text begins at `at`: the place of its closing quote, and whether it
/// has escapes. `None` if it has no end, or if that is no string.
#[inline]
pub(crate) fn end_of_string(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut end = end_of_plain(bytes, at);
    let mut has_escapes = false;
    while *bytes.get(end)? == b'\\' {
        has_escapes = true;
        end = end_of_plain(bytes, end + escape_length(&bytes[end..])?);
    }
    // Else it is a control character.
    (bytes[end] == b'"').then_some((end, has_escapes))
}

/// How long the escape is that these bytes begin with; `None` if it is none.
fn escape_length(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => {
            let digits = bytes.get(2..6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(6)
        }
        _ => None,
    }
}
