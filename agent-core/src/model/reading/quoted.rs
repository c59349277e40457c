//! The strings of a JSON text.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;

/// What stands between the quotes of a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quoted<'a> {
    pub(super) text: &'a str,
    pub(super) has_escapes: bool,
}

impl<'a> Quoted<'a> {
    /// What the string says, copied only if it has escapes; U+FFFD for what is no character.
    ///
    /// Python servers send the halves of a surrogate pair alone when a token ends between them.
    pub(super) fn text(self) -> Cow<'a, str> {
        match self.has_escapes {
            false => Cow::Borrowed(self.text),
            true => unescaped(self.text),
        }
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

/// How long the escape is that these bytes begin with; `None` if it is none.
pub(super) fn escape_length(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => {
            let digits = bytes.get(2..6)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(6)
        }
        _ => None,
    }
}

/// What the text between two quotes says; U+FFFD for what is no character.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut at = end_of_plain(bytes, 0);
    if at == bytes.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at = end_of_plain(bytes, at + 1);
            continue;
        }
        out.push_str(text.get(from..at).unwrap_or_default());
        let (character, length) = match bytes.get(at + 1) {
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'u') => character(text.get(at + 1..).unwrap_or_default()),
            Some(itself) => (char::from(*itself), 1),
            None => ('\\', 0),
        };
        out.push(character);
        from = at + 1 + length;
        at = end_of_plain(bytes, from);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// The character of an escape that begins with `u`, and how long it is: one or two halves.
fn character(escape: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 5)?.strip_prefix('u')?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0).unwrap_or(0xDC00);
    let second = || {
        escape
            .get(5..6)
            .filter(|next| *next == "\\")
            .and_then(|_| unit(6))
    };
    match char::decode_utf16([first].into_iter().chain(second())).next() {
        Some(Ok(character)) => (character, if character.len_utf16() == 2 { 11 } else { 5 }),
        _ => (char::REPLACEMENT_CHARACTER, 5),
    }
}

/// The JSON text with U+FFFD for every surrogate escape that has no partner.
pub(crate) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(found) = out[at..].find('\\') {
        let escape = at + found;
        match surrogate(&out, escape) {
            Some(high)
                if high < 0xDC00
                    && surrogate(&out, escape + 6).is_some_and(|low| low >= 0xDC00) =>
            {
                at = escape + 12;
            }
            Some(_) => {
                out.to_mut().replace_range(escape..escape + 6, "\\ufffd");
                at = escape + 6;
            }
            None => at = (escape + 2).min(out.len()),
        }
        // The character after a backslash may be longer than one byte.
        while !out.is_char_boundary(at) {
            at += 1;
        }
    }
    out
}

/// The surrogate whose escape starts at `at`.
fn surrogate(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xD800..0xE000).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_says_what_serde_json_reads() {
        for json in [
            r#""plain""#,
            r#""\"\\\/\b\f\n\r\t\u00e9\u4e16\ud83d\ude80""#,
            r#""{\"city\": \"Malmö 世界\", \"days\":\u0020 3}\n""#,
        ] {
            let expected: String = serde_json::from_str(json).unwrap();
            assert_eq!(unescaped(&json[1..json.len() - 1]), expected);
        }
        assert_eq!(
            unescaped(r"a\ud83d b \udE00\u12"),
            "a\u{fffd} b \u{fffd}\u{fffd}"
        );
        assert_eq!(unescaped("a\\"), "a\\");
    }

    #[test]
    fn halves_of_a_surrogate_pair_are_replaced_and_pairs_kept() {
        let json = r#""a \ud83d b \ud83d\ude80 \\ud83d \ude80""#;

        assert_eq!(
            without_lone_surrogates(json),
            r#""a \ufffd b \ud83d\ude80 \\ud83d \ufffd""#
        );
        let whole = r#""\ud83d\ude80 \é""#;
        assert_eq!(without_lone_surrogates(whole), whole);
    }
}
