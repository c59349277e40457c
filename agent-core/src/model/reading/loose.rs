//! Reads JSON of servers that differ in every field: each is read alone, and one that cannot be
//! read is as good as absent. Numbers keep their digits, because nothing passes through a float.

#![cfg_attr(
    not(feature = "openai"),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The fields of an object; `None` if it is none.
pub(crate) fn object(raw: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// A text, or the text parts of a list, joined.
pub(crate) fn parts(raw: &RawValue) -> String {
    if !raw.get().starts_with('[') {
        return text(raw).unwrap_or_default();
    }
    let parts: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    let texts = parts.into_iter().filter_map(|part| match object(part) {
        Some(mut part) => part.remove("text").and_then(text),
        None => text(part),
    });
    texts.collect()
}

/// The reasoning among the parts of a list, which one provider puts there.
pub(crate) fn thinking(raw: &RawValue) -> String {
    if !raw.get().starts_with('[') {
        return String::new();
    }
    let list: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    let thoughts = list
        .into_iter()
        .filter_map(|part| object(part)?.remove("thinking"));
    thoughts.map(parts).collect()
}

/// A number as it stands or in a string.
pub(crate) fn number(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').parse().ok()
}

/// A string, with U+FFFD for what is no character.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok().or_else(|| {
        let whole = without_lone_surrogates(raw.get())?;
        serde_json::from_str(&whole).ok()
    })
}

/// The JSON text with U+FFFD for every surrogate escape that has no partner; `None` if
/// there is none. Python servers send such halves when a character is cut by a token.
fn without_lone_surrogates(json: &str) -> Option<String> {
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
    matches!(out, Cow::Owned(_)).then(|| out.into_owned())
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
    fn halves_of_a_surrogate_pair_are_replaced_and_pairs_kept() {
        let json = r#""a \ud83d b \ud83d\ude80 \\ud83d \ude80""#;

        assert_eq!(
            without_lone_surrogates(json).as_deref(),
            Some(r#""a \ufffd b \ud83d\ude80 \\ud83d \ufffd""#)
        );
        assert_eq!(without_lone_surrogates(r#""\ud83d\ude80 \é""#), None);
    }
}
