//! Reads the JSON of an answer.
//!
//! Servers differ in every field, so each is read by the kind that is hoped for: [`Json::text`] of
//! a number gives nothing and goes on behind it. Where a key stands twice, the later one counts.
//! Numbers keep their digits, because nothing passes through a float.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::cut::Cut;
use super::quoted::{cut, unescaped};
pub(in crate::model) use crate::json::{Json, NotJson};

impl NotJson {
    /// What is wrong with the text.
    pub(crate) fn why(self, text: &str) -> serde_json::Error {
        let other = || serde::de::Error::custom("a value is of another kind than it must be");
        serde_json::from_str::<IgnoredAny>(text)
            .err()
            .unwrap_or_else(other)
    }
}

impl<'a> Json<'a> {
    /// True if null comes, which is read over.
    pub(crate) fn null(&mut self) -> Result<bool, NotJson> {
        match self.peek() {
            b'n' => self.skip().map(|()| true),
            _ => Ok(false),
        }
    }

    /// A string; nothing if the value is of another kind.
    pub(crate) fn text(&mut self) -> Result<Option<Cow<'a, str>>, NotJson> {
        match self.peek() {
            b'"' => {
                let string = self.string()?;
                let plain = string.plain().map(Cow::Borrowed);
                Ok(Some(plain.unwrap_or_else(|| unescaped(string.text))))
            }
            _ => self.skip().map(|()| None),
        }
    }

    /// What a string says; nothing if the value is of another kind.
    pub(crate) fn said(&mut self) -> Result<Cow<'a, str>, NotJson> {
        self.text().map(Option::unwrap_or_default)
    }

    /// A piece of a text; an empty one if the value is of another kind.
    pub(crate) fn piece(&mut self) -> Result<Cut<'a>, NotJson> {
        match self.peek() {
            b'"' => {
                let string = self.string()?;
                let plain = string.plain().map(|text| Cow::Borrowed(text).into());
                Ok(plain.unwrap_or_else(|| cut(string.text)))
            }
            _ => self.skip().map(|()| Cut::default()),
        }
    }

    /// A count, as it stands or in a string. One may be written as `12.0`; one that is out of range
    /// is as good as absent.
    pub(crate) fn number(&mut self) -> Result<Option<u64>, NotJson> {
        let digits = match self.raw()? {
            quoted if quoted.starts_with('"') => quoted.trim_matches('"'),
            digits => digits,
        };
        let range = 0.0..u64::MAX as f64;
        let fraction = || digits.parse().ok().filter(|number| range.contains(number));
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_kind_is_as_good_as_absent() {
        let mut list = Json::new(r#"[{"x": [1]}, "12", 12.0, 1e30, [1], -1, null, 7, null]"#);

        let item = |list: &mut Json<'_>| assert_eq!(list.item(), Ok(true));
        assert_eq!(list.list(), Ok(true));
        item(&mut list);
        assert_eq!(list.text(), Ok(None));
        item(&mut list);
        assert_eq!(list.number(), Ok(Some(12)));
        item(&mut list);
        assert_eq!(list.number(), Ok(Some(12)));
        item(&mut list);
        assert_eq!(list.number(), Ok(None));
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
