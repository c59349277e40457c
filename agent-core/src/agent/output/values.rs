//! Where the JSON of an answer stands among its words.

use serde_json::value::RawValue;

use crate::event::without_thoughts;

/// How many brackets between the words of an answer are looked at.
const MOST_BRACKETS: usize = 100;

/// The answer if it is JSON, or the JSON values in it, be they in a fence of Markdown or between
/// some words. Thoughts in front, which some servers leave in the text, are no part of it.
pub(super) fn values_in(answer: &str) -> Result<Vec<&str>, serde_json::Error> {
    let whole = answer.trim();
    let no_json = match serde_json::from_str::<&RawValue>(whole) {
        Ok(json) => return Ok(vec![json.get()]),
        Err(error) => error,
    };
    let mut rest = without_thoughts(whole);
    let mut values = Vec::new();
    for _ in 0..MOST_BRACKETS {
        let Some(place) = rest.find(['{', '[']) else {
            break;
        };
        rest = &rest[place..];
        let mut read = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match read.next() {
            Some(Ok(json)) => {
                values.push(json.get());
                rest = &rest[read.byte_offset()..];
            }
            // A part of what is broken is not what was meant.
            Some(Err(error)) if is_begun(rest) => return Err(error),
            _ => rest = &rest[1..],
        }
    }
    match values.is_empty() {
        true => Err(no_json),
        false => Ok(values),
    }
}

/// True if this is an object or a list that begins, and no bracket of a sentence.
fn is_begun(text: &str) -> bool {
    // `[[a link]]` is no list, as `[a link]` is none.
    let inner = text.trim_start_matches(|it: char| it == '[' || it.is_whitespace());
    match inner.strip_prefix('{') {
        Some(members) => members.trim_start().starts_with(['"', '}']),
        None => inner.starts_with('"'),
    }
}
