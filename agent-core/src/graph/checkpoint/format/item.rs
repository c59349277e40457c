//! Items of lists: a new one is what it is, and those of the parent's list are `[from, to]`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::same::Item;

impl<T: Serialize> Serialize for Item<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::New(item) => item.serialize(serializer),
            Self::Same(from, to) => (from, to).serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Items(PhantomData))
    }
}

struct Items<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
    type Value = Item<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, or two places of a list")
    }

    fn visit_map<M: MapAccess<'de>>(self, members: M) -> Result<Item<T>, M::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Item::New)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut places: S) -> Result<Item<T>, S::Error> {
        let mut place = |at| {
            let place = places.next_element::<usize>()?;
            place.ok_or_else(|| S::Error::invalid_length(at, &"two places"))
        };
        // `serde_json` refuses a third one.
        Ok(Item::Same(place(0)?, place(1)?))
    }
}
