//! Writes JSON by hand: what is known stands in the code as it is sent, and only what others said
//! is looked through. A history is written in every conversation, so this is worth it. Settings are few,
//! and go into a map.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::end_of_plain;

/// Adds a string, with quotes around it and escapes as `serde_json` writes them.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = end_of_plain(bytes, from);
        out.push_str(&text[from..at]);
        let Some(special) = bytes.get(at) else { break };
        match special {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            control => {
                let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half & 0xF)]);
                out.push_str("\\u00");
                out.push(digit(control >> 4));
                out.push(digit(*control));
            }
        }
        from = at + 1;
    }
    out.push('"');
}

/// Adds any value; null if it is none of JSON.
pub(super) fn push_value(out: &mut String, value: &impl Serialize) {
    out.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()));
}

/// Adds a setting, if it is set. A number that is none would be null, which no server takes.
pub(super) fn set(fields: &mut Map<String, Value>, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value.map(Into::into).filter(|value| !value.is_null()) {
        fields.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_what_serde_json_makes_of_it() {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\"", "a \"b\" c\\", "é\n世界\u{1}🦀", &all] {
            let mut out = String::new();
            push_string(&mut out, text);
            assert_eq!(out, serde_json::to_string(text).unwrap());
        }
    }
}
