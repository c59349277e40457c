//! Walks over JSON, once and without building what nobody reads.
//!
//! What a value must be is for the one who walks: here every value can be gone into, taken as it
//! stands, or read over, however deep it is. [`Json`] takes what serde_json takes; what is no JSON is
//! [`NotJson`], and only serde_json says why. Who only asks where something ends needs no `Json`:
//! [`end_of_string`], [`end_of_number`], [`after_space`], [`behind`].

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, unused_imports, reason = "one client needs all of it")
)]

mod nesting;
mod number;
mod string;
mod values;

pub(crate) use nesting::Nesting;
pub(crate) use number::end_of_number;
pub(crate) use string::{Quoted, end_of_plain, end_of_string};
pub(crate) use values::count_values;

/// The text is no JSON, or not what alone it may be at this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

/// A place in a JSON text.
#[derive(Debug, Clone)]
pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
    /// True at the beginning of an object or a list, where no comma stands.
    is_first: bool,
}

impl<'a> Json<'a> {
    /// The beginning of a text.
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            is_first: false,
        }
    }

    /// How many bytes of the text are behind it.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// All of the text so far.
    pub(crate) fn before(&self) -> &'a str {
        &self.text[..self.at]
    }

    /// Goes on at another place, before a value or behind one.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
        self.is_first = false;
    }

    /// The first byte of what comes next; 0 at the end.
    pub(crate) fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        self.at = after_space(bytes, self.at);
        bytes.get(self.at).copied().unwrap_or(0)
    }

    /// True if an object comes, whose keys are next; a value of another kind is read over.
    pub(crate) fn object(&mut self) -> Result<bool, NotJson> {
        self.enter(b'{')
    }

    /// True if a list comes, whose items are next; a value of another kind is read over.
    pub(crate) fn list(&mut self) -> Result<bool, NotJson> {
        self.enter(b'[')
    }

    fn enter(&mut self, opens: u8) -> Result<bool, NotJson> {
        if self.peek() != opens {
            return self.skip().map(|()| false);
        }
        self.at += 1;
        self.is_first = true;
        Ok(true)
    }

    /// The next key, whose value must be read or skipped; `None` at the end of the object.
    pub(crate) fn name(&mut self) -> Result<Option<Quoted<'a>>, NotJson> {
        if !self.goes_on(b'}')? {
            return Ok(None);
        }
        let name = self.string()?;
        self.take(b':')?;
        Ok(Some(name))
    }

    /// Where the value of the next member stands, if this is its name, written without escapes.
    pub(crate) fn value_of(&self, name: &str) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let at = match self.is_first {
            true => self.at,
            false => behind(bytes, self.at, b',')?,
        };
        let at = behind(bytes, at, b'"')?;
        let [b'"', ..] = bytes[at..].strip_prefix(name.as_bytes())? else {
            return None;
        };
        let at = behind(bytes, at + name.len() + 1, b':')?;
        Some(after_space(bytes, at))
    }

    /// The next key as it is written, as [`Json::name`]: nobody writes the keys that are known
    /// here with escapes.
    pub(crate) fn key(&mut self) -> Result<Option<&'a str>, NotJson> {
        self.name().map(|name| name.map(|name| name.text))
    }

    /// True if there is another item, which must be read or skipped; false at the end of the list.
    pub(crate) fn item(&mut self) -> Result<bool, NotJson> {
        self.goes_on(b']')
    }

    fn goes_on(&mut self, closes: u8) -> Result<bool, NotJson> {
        let is_first = std::mem::take(&mut self.is_first);
        match self.peek() {
            byte if is_first && byte != closes => Ok(true),
            byte if byte == closes || byte == b',' => {
                self.at += 1;
                Ok(byte == b',')
            }
            _ => Err(NotJson),
        }
    }

    /// A value as it stands.
    pub(crate) fn raw(&mut self) -> Result<&'a str, NotJson> {
        self.peek();
        let from = self.at;
        self.skip()?;
        Ok(&self.text[from..self.at])
    }

    /// Reads over a value, however deep it is.
    pub(crate) fn skip(&mut self) -> Result<(), NotJson> {
        let first = self.peek();
        if !matches!(first, b'{' | b'[') {
            return self.scalar(first);
        }
        // What closes the lists and objects around the one that is open, and that one.
        let mut outer = Vec::new();
        let mut inner = None;
        loop {
            let first = self.peek();
            let closes = match first {
                b'{' => Some(b'}'),
                b'[' => Some(b']'),
                _ => None,
            };
            if closes.is_some() {
                outer.extend(inner);
                inner = closes;
                self.at += 1;
                self.is_first = true;
            } else {
                self.scalar(first)?;
            }
            loop {
                let Some(closes) = inner else {
                    return Ok(());
                };
                if self.goes_on(closes)? {
                    if closes == b'}' {
                        self.string()?;
                        self.take(b':')?;
                    }
                    break;
                }
                inner = outer.pop();
            }
        }
    }

    /// Reads over what is no object and no list, and begins with this byte.
    fn scalar(&mut self, first: u8) -> Result<(), NotJson> {
        match first {
            b'"' => self.string().map(|_| ()),
            b'n' => self.word("null"),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            _ => {
                let end = end_of_number(self.text.as_bytes(), self.at);
                self.at = end.ok_or(NotJson)?;
                Ok(())
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<(), NotJson> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(NotJson);
        }
        self.at += word.len();
        Ok(())
    }

    /// A string, with what stands between its quotes; nothing else may come.
    pub(crate) fn string(&mut self) -> Result<Quoted<'a>, NotJson> {
        self.take(b'"')?;
        let from = self.at;
        let (end, has_escapes) = end_of_string(self.text.as_bytes(), from).ok_or(NotJson)?;
        self.at = end + 1;
        let text = &self.text[from..end];
        Ok(Quoted { text, has_escapes })
    }

    fn take(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.peek() != byte {
            return Err(NotJson);
        }
        self.at += 1;
        Ok(())
    }

    /// True behind the last value.
    pub(crate) fn end(&mut self) -> Result<(), NotJson> {
        let is_over = self.peek() == 0 && self.at == self.text.len();
        is_over.then_some(()).ok_or(NotJson)
    }
}

/// Where what comes next begins.
#[inline]
pub(crate) fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// What stands behind this byte, if it comes next.
#[inline]
pub(crate) fn behind(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    let at = after_space(bytes, at);
    (*bytes.get(at)? == byte).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    fn is_json(text: &str) -> bool {
        let mut json = Json::new(text);
        json.skip().and_then(|()| json.end()).is_ok()
    }

    /// Each byte of these texts is left out, is replaced by others, has others before it, and ends
    /// the text.
    #[test]
    fn what_is_json_is_what_serde_json_takes() {
        let texts = [
            r#" {"a": [1, -0.5e+10, true ,false,null], "b\n\u00e9": {"": {}}, "c": [] } "#,
            r#"[[{"a":"\"x\\ \ud83d é \/","b":0}],12e3,"",[[[]]], 1.0 ]"#,
        ];
        let others = "{}[],:\"\\ 01-+.eEtfnu\n\u{1}\u{7f}";
        for text in texts {
            assert!(is_json(text), "{text}");
            for (at, old) in text.char_indices() {
                let (before, after) = (&text[..at], &text[at + old.len_utf8()..]);
                let mut changed = vec![before.to_owned(), format!("{before}{after}")];
                for other in others.chars() {
                    changed.push(format!("{before}{other}{after}"));
                    changed.push(format!("{before}{other}{old}{after}"));
                }
                for text in changed {
                    let expected = serde_json::from_str::<IgnoredAny>(&text).is_ok();
                    assert_eq!(is_json(&text), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_too_deep_to_be_read_over() {
        assert!(is_json(&("[".repeat(100_000) + &"]".repeat(100_000))));
    }
}
