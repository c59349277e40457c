//! Repairs the text of a call's arguments, if there is exactly one way to read it.
//!
//! What models get wrong and what can be meant by it: a Markdown fence around the object,
//! prose after it, a comma before a closing bracket, raw control characters inside a
//! string, and Python's spelling of a literal. Nothing is ever made up: a text that was
//! cut off stays as it is, so does one with a value JSON has no word for.

/// The repaired text. The caller still has to check that it is an object.
pub(super) fn repair(text: &str) -> Option<String> {
    let inner = unfence(text.trim())?;
    let mut rest = inner.chars().peekable();
    let mut out = String::with_capacity(inner.len());
    let mut depth = 0_usize;
    while let Some(char) = rest.next() {
        match char {
            '"' | '\'' => string(&mut rest, char, &mut out)?,
            '{' | '[' => {
                depth += 1;
                out.push(char);
            }
            '}' | ']' => {
                depth = depth.checked_sub(1)?;
                drop_trailing_comma(&mut out);
                out.push(char);
                if depth == 0 {
                    return is_prose(rest).then_some(out);
                }
            }
            _ if char.is_alphabetic() => {
                let mut word = String::from(char);
                while let Some(next) = rest.next_if(|next| next.is_alphanumeric()) {
                    word.push(next);
                }
                out.push_str(match &*word {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    other => other,
                });
            }
            _ => out.push(char),
        }
    }
    None
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The text inside a Markdown code fence, or the text itself if there is no fence; it has no blanks
/// around it.
fn unfence(text: &str) -> Option<&str> {
    let Some(fenced) = text.strip_prefix("```") else {
        return Some(text);
    };
    let (_language, body) = fenced.split_once('\n')?;
    Some(body.strip_suffix("```")?.trim())
}

/// Copies a string up to its closing quote, as JSON writes it.
fn string(rest: &mut Rest<'_>, quote: char, out: &mut String) -> Option<()> {
    out.push('"');
    loop {
        match rest.next()? {
            char if char == quote => {
                out.push('"');
                return Some(());
            }
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => match rest.next()? {
                '\'' => out.push('\''),
                escaped => {
                    out.push('\\');
                    out.push(escaped);
                }
            },
            char => out.push(char),
        }
    }
}

fn drop_trailing_comma(out: &mut String) {
    if let Some(before) = out.trim_end().strip_suffix(',') {
        out.truncate(before.len());
    }
}

/// True if what follows the object can only be talk, or a mark of the model's template such as
/// `</tool_call>`: nothing in it looks like data.
fn is_prose(mut rest: Rest<'_>) -> bool {
    rest.peek()
        .is_none_or(|char| char.is_whitespace() || *char == '<')
        && rest.all(|char| !matches!(char, '{' | '}' | '[' | ']' | '"'))
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn what_has_one_reading_is_repaired() {
        for (broken, meant) in [
            (r#"{"a": 1, "b": [1, 2,],}"#, r#"{"a": 1, "b": [1, 2]}"#),
            (r#"{"a": [1, 2, ], }"#, r#"{"a": [1, 2]}"#),
            ("{\"a\": \"x\n\ty\r\"}", r#"{"a": "x\n\ty\r"}"#),
            (r#"{"a": "say \"x\", \\",}"#, r#"{"a": "say \"x\", \\"}"#),
            ("```json\n{\"a\": 1}\n```", r#"{"a": 1}"#),
            (" ```\n\n{\"a\": 1}\n\n```\n", r#"{"a": 1}"#),
            (r#"{"a": 1} That should do it."#, r#"{"a": 1}"#),
            (r#"{"a": 1}<|tool_call_end|>"#, r#"{"a": 1}"#),
            (r#"{"a": 1}</tool_call>"#, r#"{"a": 1}"#),
            (r#"{'a': "it's", 'b': None}"#, r#"{"a": "it's", "b": null}"#),
            ("{'a': [True, False]}", r#"{"a": [true, false]}"#),
            // Left to who reads it: a word that only begins as one of Python's.
            ("{'a': None1}", r#"{"a": None1}"#),
            (r#"{'a': 'say \'x\' "y"'}"#, r#"{"a": "say 'x' \"y\""}"#),
        ] {
            assert_eq!(repair(broken).as_deref(), Some(meant), "{broken}");
        }
    }

    #[test]
    fn what_has_two_readings_or_was_cut_off_is_not() {
        for broken in [
            r#"{"a": 1}{"a": 2}"#,
            r#"{"a": 1} {"a": 2}"#,
            r#"{"a": 1} or "b""#,
            r#"{"a": 1} {2"#,
            r#"{"a": 1} [2"#,
            r#"{"a": 1} 2]"#,
            r#"{"a": 1} 2}"#,
            r#"{"a": 1}2"#,
            r#"{"a": "x"#,
            r#"{"a": "x\"#,
            r#"{"a": [1, 2"#,
            "```json\n{\"a\": 1}",
            "}",
            "",
        ] {
            assert_eq!(repair(broken), None, "{broken}");
        }
    }
}
