//! Reads JSON of servers that differ in every field: each is read alone, and one that cannot be
//! read is as good as absent. Numbers keep their digits, because nothing passes through a float.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What a field is read into: its value if that is of the kind that was hoped for, else nothing.
#[derive(Debug)]
pub(crate) struct Hoped<T>(pub(crate) Option<T>);

/// A text as it stands, copied only where it has escapes.
pub(crate) type Text<'a> = Hoped<Cow<'a, str>>;

/// A kind of value: what it makes of a text, a list or an object. Of all else it makes nothing.
pub(crate) trait Kind<'de>: Sized {
    fn of_text(_: Cow<'de, str>) -> Option<Self> {
        None
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn of_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl<'a, 'de: 'a> Kind<'de> for Cow<'a, str> {
    fn of_text(text: Cow<'de, str>) -> Option<Self> {
        Some(text)
    }
}

impl<'de, T: Deserialize<'de>> Kind<'de> for Vec<T> {
    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut all = Self::new();
        while let Some(one) = list.next_element()? {
            // Mostly there is one, and all of them are large.
            if all.is_empty() {
                all.reserve_exact(1);
            }
            all.push(one);
        }
        Ok(Some(all))
    }
}

/// An object with these fields.
#[derive(Debug)]
pub(crate) struct Fields<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Kind<'de> for Fields<T> {
    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        let fields = T::deserialize(MapAccessDeserializer::new(object))?;
        Ok(Some(Self(fields)))
    }
}

impl<T> Default for Hoped<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Kind<'de>> Deserialize<'de> for Hoped<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData)).map(Self)
    }
}

struct Any<T>(PhantomData<T>);

impl<'de, T: Kind<'de>> Visitor<'de> for Any<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Option<T>, E> {
        Ok(T::of_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Option<T>, E> {
        Ok(T::of_text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Option<T>, A::Error> {
        T::of_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Option<T>, A::Error> {
        T::of_object(object)
    }

    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Option<T>, E> {
        Ok(None)
    }
}

/// The text of a message: a string, or the text parts of a list. One provider puts its reasoning
/// among the parts.
#[derive(Debug, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) thinking: Cow<'a, str>,
}

#[derive(Debug, Default, Deserialize)]
struct Part<'a> {
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default, borrow)]
    thinking: Hoped<Parts<'a>>,
}

impl<'a, 'de: 'a> Kind<'de> for Part<'a> {
    fn of_text(text: Cow<'de, str>) -> Option<Self> {
        let text = Hoped(Some(text));
        Some(Self {
            text,
            ..Self::default()
        })
    }

    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
        Self::deserialize(MapAccessDeserializer::new(object)).map(Some)
    }
}

impl<'a, 'de: 'a> Kind<'de> for Parts<'a> {
    fn of_text(text: Cow<'de, str>) -> Option<Self> {
        let thinking = Cow::default();
        Some(Self { text, thinking })
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut all = Self::default();
        while let Some(Hoped(part)) = list.next_element::<Hoped<Part<'a>>>()? {
            let part = part.unwrap_or_default();
            all.text += part.text.0.unwrap_or_default();
            all.thinking += part.thinking.0.unwrap_or_default().text;
        }
        Ok(Some(all))
    }
}

/// A number as it stands or in a string; a count may be written as `12.0`. One that is out of range
/// is as good as absent, which only a look at its text can tell.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Number(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(number(raw)))
    }
}

/// A number as it stands or in a string.
pub(crate) fn number(raw: &RawValue) -> Option<u64> {
    let digits = raw.get().trim_matches('"');
    let fraction = || digits.parse::<f64>().ok().filter(|number| *number >= 0.0);
    digits
        .parse()
        .ok()
        .or_else(|| fraction().map(|number| number as u64))
}

/// A string, with U+FFFD for what is no character.
pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    if let Ok(Hoped(text)) = serde_json::from_str::<Text<'_>>(raw.get()) {
        return text;
    }
    let whole = without_lone_surrogates(raw.get())?;
    serde_json::from_str(&whole).ok().map(Cow::Owned)
}

/// The JSON text with U+FFFD for every surrogate escape that has no partner; `None` if
/// there is none. Python servers send such halves when a character is cut by a token.
pub(crate) fn without_lone_surrogates(json: &str) -> Option<String> {
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
