//! Knows the arguments that models write nearly always, so that these are not parsed to be checked.

/// So many names are compared; an object with more is not plain.
const MOST: usize = 8;

/// So many digits fit every reader of numbers.
const DIGITS: usize = 15;

/// True if the text is one JSON object whose members are texts without escapes, short numbers and
/// words, no two of one name. What is not plain may be an object all the same.
pub(super) fn is_plain_object(text: &str) -> bool {
    members(text.as_bytes()).is_some_and(<[u8]>::is_empty)
}

/// What stands behind the object.
fn members(text: &[u8]) -> Option<&[u8]> {
    let mut names: [&[u8]; MOST] = [&[]; MOST];
    let mut rest = after_space(text.strip_prefix(b"{")?);
    if let Some(behind) = rest.strip_prefix(b"}") {
        return Some(behind);
    }
    for position in 0..MOST {
        let (name, behind) = quoted(rest)?;
        if names[..position].contains(&name) {
            return None;
        }
        names[position] = name;
        let behind = after_space(behind).strip_prefix(b":")?;
        rest = after_space(value(after_space(behind))?);
        if let Some(behind) = rest.strip_prefix(b"}") {
            return Some(behind);
        }
        rest = after_space(rest.strip_prefix(b",")?);
    }
    None
}

/// What stands behind a value.
fn value(text: &[u8]) -> Option<&[u8]> {
    match text.first()? {
        b'"' => quoted(text).map(|(_, behind)| behind),
        b't' => text.strip_prefix(b"true"),
        b'f' => text.strip_prefix(b"false"),
        b'n' => text.strip_prefix(b"null"),
        _ => number(text.strip_prefix(b"-").unwrap_or(text)),
    }
}

/// A text without its quotes, and what stands behind them.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    let (inside, end) = text.split_at(text.iter().position(is_end)?);
    Some((inside, end.strip_prefix(b"\"")?))
}

/// What stands behind a number without a sign.
fn number(text: &[u8]) -> Option<&[u8]> {
    let whole = digits(text)?;
    if text[0] == b'0' && whole > 1 {
        return None;
    }
    let behind = &text[whole..];
    match behind.strip_prefix(b".") {
        Some(fraction) => Some(&fraction[digits(fraction)?..]),
        None => Some(behind),
    }
}

fn digits(text: &[u8]) -> Option<usize> {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let count = text.iter().take_while(is_digit).count();
    (1..=DIGITS).contains(&count).then_some(count)
}

fn after_space(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\n' | b'\t' | b'\r', behind @ ..] = text {
        text = behind;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::call::check;

    #[test]
    fn what_models_write_is_plain() {
        for text in [
            "{}",
            "{ }",
            r#"{"city":"Malmö","days":3}"#,
            "{\n  \"a\": -0.5,\n  \"b\": true, \"c\" : null\n}",
            r#"{"":"","a":0}"#,
        ] {
            assert!(is_plain_object(text), "{text}");
        }
    }

    #[test]
    fn what_is_plain_has_no_fault() {
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
                    assert!(!is_plain_object(&text) || check(&text).is_none(), "{text}");
                }
            }
        }
    }

    #[test]
    fn what_needs_a_second_look_is_not_plain() {
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":1e3}"#,
            r#"{"a":-}"#,
            r#"{"a":1234567890123456}"#,
            r#"{"a":"\n"}"#,
            r#"{"a":[]}"#,
            r#"{"a":1,}"#,
            r#"{"a":1} x"#,
            "[1]",
            "",
        ] {
            assert!(!is_plain_object(text), "{text}");
        }
    }
}
