//! The text of a call's arguments, split into its members.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::shown;
use crate::secrets::Secrets;

/// One member of the arguments: its name and its value's text.
pub(super) type Entry<'a> = (Cow<'a, str>, &'a RawValue);

/// The members of the arguments object, or why there is none. No text at all and `null` are
/// no arguments.
pub(super) fn split<'a>(arguments: &'a str, secrets: &Secrets) -> Result<Vec<Entry<'a>>, String> {
    let text = arguments.trim();
    if text.is_empty() || text == "null" {
        return Ok(Vec::new());
    }
    match serde_json::from_str(text) {
        Ok(Entries(entries)) => match repeated(&entries) {
            Some(name) => Err(format!(
                "argument `{}` is given twice",
                shown(name, secrets)
            )),
            None => Ok(entries),
        },
        Err(error) if error.is_data() => Err(format!(
            "the arguments are not a JSON object, got {}",
            shown(text, secrets)
        )),
        Err(error) => Err(format!("the arguments are not valid JSON: {error}")),
    }
}

/// Below this many members each is compared with each, which needs no allocation.
pub(super) const FEW: usize = 16;

fn repeated<'a>(entries: &'a [Entry<'_>]) -> Option<&'a str> {
    if entries.len() <= FEW {
        let twice = |(index, (name, _)): &(usize, &Entry<'_>)| {
            entries[..*index].iter().any(|(other, _)| other == name)
        };
        return entries
            .iter()
            .enumerate()
            .find(twice)
            .map(|(_, (name, _))| &**name);
    }
    let mut names = HashSet::with_capacity(entries.len());
    let name = |(name, _): &'a Entry<'_>| &**name;
    entries.iter().map(name).find(|name| !names.insert(*name))
}

/// The members of a JSON object, each value as its text.
struct Entries<'a>(Vec<Entry<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor).map(Self)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Vec<Entry<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        let mut entries = Vec::new();
        while let Some((Key(name), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            entries.push((name, value));
        }
        Ok(entries)
    }
}
