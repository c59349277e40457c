//! Walks over the JSON of an answer, once and without building what nobody reads.
//!
//! Servers differ in every field, so each is read by the kind that is hoped for: [`Json::text`] of
//! a number gives nothing and goes on behind it. What is no JSON at all is [`NotJson`]; only then
//! `serde_json` is asked why. Where a key stands twice, the later one counts. Numbers keep their
//! digits, because nothing passes through a float.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::quoted::{Quoted, end_of_plain, escape_length};

/// The text is no JSON, or not what alone it may be at this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

impl NotJson {
    /// What is wrong with the text.
    pub(crate) fn why(self, text: &str) -> serde_json::Error {
        let other = || serde::de::Error::custom("a value is of another kind than it must be");
        serde_json::from_str::<IgnoredAny>(text)
            .err()
            .unwrap_or_else(other)
    }
}

/// A place in a JSON text.
#[derive(Debug)]
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

    /// All of the text so far.
    pub(crate) fn before(&self) -> &'a str {
        &self.text[..self.at]
    }

    /// Goes to the value of a key that another text began with too, as [`Json::before`] told of it.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The first byte of what comes next; 0 at the end.
    pub(crate) fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    /// True if null comes, which is read over.
    pub(crate) fn null(&mut self) -> Result<bool, NotJson> {
        match self.peek() {
            b'n' => self.skip().map(|()| true),
            _ => Ok(false),
        }
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

    /// The next key as it is written, whose value must be read or skipped; `None` at the end of the
    /// object. Nobody writes the keys that are known here with escapes.
    pub(crate) fn key(&mut self) -> Result<Option<&'a str>, NotJson> {
        if !self.goes_on(b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.take(b':')?;
        Ok(Some(key.text))
    }

    /// True if there is another item, which must be read or skipped; false at the end of the list.
    pub(crate) fn item(&mut self) -> Result<bool, NotJson> {
        self.goes_on(b']')
    }

    fn goes_on(&mut self, closes: u8) -> Result<bool, NotJson> {
        let is_first = std::mem::take(&mut self.is_first);
        match self.peek() {
            byte if byte == closes => {
                self.at += 1;
                Ok(false)
            }
            _ if is_first => Ok(true),
            _ => self.take(b',').map(|()| true),
        }
    }

    /// A string; nothing if the value is of another kind.
    pub(crate) fn text(&mut self) -> Result<Option<Cow<'a, str>>, NotJson> {
        match self.peek() {
            b'"' => self.string().map(|string| Some(string.text())),
            _ => self.skip().map(|()| None),
        }
    }

    /// A count, as it stands or in a string. One may be written as `12.0`; one that is out of range
    /// is as good as absent.
    pub(crate) fn number(&mut self) -> Result<Option<u64>, NotJson> {
        let digits = match self.raw()? {
            quoted if quoted.starts_with('"') => quoted.trim_matches('"'),
            digits => digits,
        };
        let fraction = || digits.parse::<f64>().ok().filter(|number| *number >= 0.0);
        let whole = digits.parse().ok();
        Ok(whole.or_else(|| fraction().map(|number| number as u64)))
    }

    /// Any value but null, as it stands.
    pub(crate) fn any(&mut self) -> Result<Option<&'a str>, NotJson> {
        self.raw().map(|raw| Some(raw).filter(|raw| *raw != "null"))
    }

    /// What is read from the member of this name, if an object comes that has it.
    pub(crate) fn member<T>(
        &mut self,
        name: &str,
        read: fn(&mut Self) -> Result<Option<T>, NotJson>,
    ) -> Result<Option<T>, NotJson> {
        let mut found = None;
        if self.object()? {
            while let Some(key) = self.key()? {
                match key == name {
                    true => found = read(self)?,
                    false => self.skip()?,
                }
            }
        }
        Ok(found)
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

    fn scalar(&mut self, first: u8) -> Result<(), NotJson> {
        match first {
            b'"' => self.string().map(|_| ()),
            b'n' => self.word(b"null"),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            _ => self.digits(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), NotJson> {
        let rest = self.text.as_bytes().get(self.at..);
        self.at += word.len();
        let is_it = rest.is_some_and(|rest| rest.starts_with(word));
        is_it.then_some(()).ok_or(NotJson)
    }

    /// Reads over a number.
    fn digits(&mut self) -> Result<(), NotJson> {
        self.is_next(b"-");
        if !self.is_next(b"0") {
            self.some_digits()?;
        }
        if self.is_next(b".") {
            self.some_digits()?;
        }
        if self.is_next(b"eE") {
            self.is_next(b"+-");
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<(), NotJson> {
        let from = self.at;
        while let Some(b'0'..=b'9') = self.text.as_bytes().get(self.at) {
            self.at += 1;
        }
        (self.at > from).then_some(()).ok_or(NotJson)
    }

    /// Takes one of these bytes, if one is next.
    fn is_next(&mut self, bytes: &[u8]) -> bool {
        let next = self.text.as_bytes().get(self.at);
        let is_next = next.is_some_and(|byte| bytes.contains(byte));
        self.at += usize::from(is_next);
        is_next
    }

    fn take(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.peek() != byte {
            return Err(NotJson);
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<Quoted<'a>, NotJson> {
        self.take(b'"')?;
        let from = self.at;
        let mut has_escapes = false;
        loop {
            let bytes = self.text.as_bytes();
            self.at = end_of_plain(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += escape_length(&bytes[self.at..]).ok_or(NotJson)?;
                }
                // A control character, or the end.
                _ => return Err(NotJson),
            }
        }
        let text = &self.text[from..self.at];
        self.at += 1;
        Ok(Quoted { text, has_escapes })
    }

    /// True behind the last value.
    pub(crate) fn end(&mut self) -> Result<(), NotJson> {
        let is_over = self.peek() == 0 && self.at == self.text.len();
        is_over.then_some(()).ok_or(NotJson)
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_value_of_another_kind_is_as_good_as_absent() {
        let mut list = Json::new(r#"[{"x": [1]}, "12", 12.0, [1], -1, null, 7, null]"#);

        let item = |list: &mut Json<'_>| assert_eq!(list.item(), Ok(true));
        assert_eq!(list.list(), Ok(true));
        item(&mut list);
        assert_eq!(list.text(), Ok(None));
        item(&mut list);
        assert_eq!(list.number(), Ok(Some(12)));
        item(&mut list);
        assert_eq!(list.number(), Ok(Some(12)));
        item(&mut list);
        assert_eq!(list.object(), Ok(false));
        item(&mut list);
        assert_eq!(list.number(), Ok(None));
        item(&mut list);
        assert_eq!(list.any(), Ok(None));
        item(&mut list);
        assert_eq!(list.any(), Ok(Some("7")));
        item(&mut list);
        assert_eq!(list.null(), Ok(true));
        assert_eq!(list.item(), Ok(false));
        assert_eq!(list.end(), Ok(()));
    }
}
