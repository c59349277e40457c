//! What the strings of an answer say.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;

use super::cut::Cut;
use crate::json::end_of_plain;

/// What the text between two quotes says; U+FFFD for what is no character.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    cut(text).whole()
}

/// As [`unescaped`], but for the halves of characters at its ends.
pub(crate) fn cut(text: &str) -> Cut<'_> {
    let bytes = text.as_bytes();
    let mut at = end_of_plain(bytes, 0);
    if at == bytes.len() {
        return Cow::Borrowed(text).into();
    }
    let mut out = String::with_capacity(text.len());
    let (mut low, mut high) = (None, None);
    let mut from = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at = end_of_plain(bytes, at + 1);
            continue;
        }
        out.push_str(text.get(from..at).unwrap_or_default());
        let (character, length) = match bytes.get(at + 1) {
            Some(b'b') => (Some('\u{8}'), 1),
            Some(b'f') => (Some('\u{c}'), 1),
            Some(b'n') => (Some('\n'), 1),
            Some(b'r') => (Some('\r'), 1),
            Some(b't') => (Some('\t'), 1),
            Some(b'u') => match unit(text, at) {
                Some(half @ 0xDC00..=0xDFFF) if at == 0 => {
                    low = Some(half);
                    (None, 5)
                }
                Some(half @ 0xD800..=0xDBFF) if at + 6 == bytes.len() => {
                    high = Some(half);
                    (None, 5)
                }
                unit => character(unit, text, at),
            },
            Some(itself) => (Some(char::from(*itself)), 1),
            None => (Some('\\'), 0),
        };
        out.extend(character);
        from = at + 1 + length;
        at = end_of_plain(bytes, from);
    }
    out.push_str(text.get(from..).unwrap_or_default());
    let text = Cow::Owned(out);
    Cut { low, text, high }
}

/// The number of the escape that begins with `\u` at `at`.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

/// The character of the escape at `at`, whose number this is, and how long it is without its
/// backslash: one half or two.
fn character(unit_here: Option<u16>, text: &str, at: usize) -> (Option<char>, usize) {
    let units = unit_here.into_iter().chain(unit(text, at + 6));
    match char::decode_utf16(units).next() {
        Some(Ok(character)) if unit_here.is_some() => {
            (Some(character), 6 * character.len_utf16() - 1)
        }
        _ => (Some(char::REPLACEMENT_CHARACTER), 5),
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
