//! What the strings of an answer say; Python servers send the halves of a surrogate pair alone when a
//! token ends between them.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;

use crate::json::end_of_plain;

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
