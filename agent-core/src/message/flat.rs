//! Knows the arguments that models write nearly always, so that these are not parsed to be checked.

use crate::json::{after_space, behind, end_of_number, end_of_string};

/// So many names are compared; an object with more is not flat.
const MOST: usize = 8;

/// A number of so many bytes without an exponent is in the range of every reader.
const SHORT: usize = 32;

/// True if the text is one JSON object whose members are strings without escapes, short numbers and
/// words, no two of one name. What is not flat may be an object all the same.
pub(super) fn is_flat_object(text: &str) -> bool {
    let bytes = text.as_bytes();
    end_of_flat(bytes).is_some_and(|end| after_space(bytes, end) == bytes.len())
}

/// Where the object ends.
fn end_of_flat(bytes: &[u8]) -> Option<usize> {
    let mut at = behind(bytes, 0, b'{')?;
    if let Some(end) = behind(bytes, at, b'}') {
        return Some(end);
    }
    let mut names: [&[u8]; MOST] = [&[]; MOST];
    for count in 0..MOST {
        let from = behind(bytes, at, b'"')?;
        let (end, has_escapes) = end_of_string(bytes, from)?;
        let name = &bytes[from..end];
        if has_escapes || names[..count].contains(&name) {
            return None;
        }
        names[count] = name;
        at = end_of_scalar(bytes, after_space(bytes, behind(bytes, end + 1, b':')?))?;
        if let Some(end) = behind(bytes, at, b'}') {
            return Some(end);
        }
        at = behind(bytes, at, b',')?;
    }
    None
}

/// Where the string, the short number or the word ends that begins at `at`.
fn end_of_scalar(bytes: &[u8], at: usize) -> Option<usize> {
    let behind_word = |word: &str| {
        let is_it = bytes[at..].starts_with(word.as_bytes());
        is_it.then_some(at + word.len())
    };
    match bytes.get(at)? {
        b'"' => {
            let (end, has_escapes) = end_of_string(bytes, at + 1)?;
            (!has_escapes).then_some(end + 1)
        }
        b'-' | b'0'..=b'9' => {
            let end = end_of_number(bytes, at)?;
            let number = &bytes[at..end];
            let has_exponent = number.iter().any(|byte| matches!(byte, b'e' | b'E'));
            (number.len() <= SHORT && !has_exponent).then_some(end)
        }
        b't' => behind_word("true"),
        b'f' => behind_word("false"),
        b'n' => behind_word("null"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::arguments::check;

    #[test]
    fn what_models_write_is_flat() {
        for text in [
            "{}",
            "{ }",
            r#"{"city":"Malmö","days":3}"#,
            "{\n  \"a\": -0.5,\n  \"b\": true, \"c\" : null\n}",
            r#"{"":"","a":0}"#,
        ] {
            assert!(is_flat_object(text), "{text}");
        }
    }

    #[test]
    fn what_is_flat_has_no_fault() {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            "\"",
            "\"a\"",
            "\"b\"",
            ":",
            ",",
            " ",
            "\n",
            "\\",
            "\u{1}",
            "0",
            "1",
            "-",
            ".",
            "e",
            "true",
            "null",
            "nul",
            "\"a\":1",
            "\"b\":\"x\"",
            "\u{a0}",
        ];
        // Every text of one to four pieces, inside of braces and not.
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer = texts
                .iter()
                .flat_map(|text| pieces.map(|piece| format!("{text}{piece}")));
            texts = longer.collect();
            for text in &texts {
                for text in [format!("{{{text}}}"), text.clone()] {
                    assert!(!is_flat_object(&text) || check(&text).is_none(), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_needs_a_second_look_is_not_flat() {
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":1e3}"#,
            r#"{"a":-}"#,
            r#"{"a":123456789012345678901234567890123}"#,
            r#"{"a":"\n"}"#,
            r#"{"a":[]}"#,
            r#"{"a":1,}"#,
            r#"{"a":1} x"#,
            "[1]",
            "",
        ] {
            assert!(!is_flat_object(text), "{text}");
        }
    }
}
