//! Lists as a checkpoint holds them: what stood in its parent's list is not written again.

use std::collections::HashMap;
use std::sync::Arc;

use super::record::Asked;
use crate::boxed::BoxError;

/// An item of a list in a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::graph) enum Item<T> {
    New(T),
    /// These places of the parent's list, the second one not among them.
    Same(usize, usize),
}

impl<T> Item<T> {
    pub(super) fn is_new(&self) -> bool {
        self.as_new().is_some()
    }

    pub(super) fn as_ref(&self) -> Item<&T> {
        match self {
            Self::New(item) => Item::New(item),
            Self::Same(from, to) => Item::Same(*from, *to),
        }
    }

    pub(super) fn as_new(&self) -> Option<&T> {
        match self {
            Self::New(item) => Some(item),
            Self::Same(..) => None,
        }
    }

    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> Item<U> {
        match self {
            Self::New(item) => Item::New(f(item)),
            Self::Same(from, to) => Item::Same(from, to),
        }
    }

    pub(super) fn try_map<U, E>(self, f: impl FnOnce(T) -> Result<U, E>) -> Result<Item<U>, E> {
        Ok(match self {
            Self::New(item) => Item::New(f(item)?),
            Self::Same(from, to) => Item::Same(from, to),
        })
    }
}

/// The whole list, all of it new.
pub(super) fn anew<T>(list: impl IntoIterator<Item = T>) -> Vec<Item<T>> {
    list.into_iter().map(Item::New).collect()
}

/// The list as items, each with its place in the parent's if it stood there.
pub(super) fn since<T>(list: impl Iterator<Item = (T, Option<usize>)>) -> Vec<Item<T>> {
    let mut items = Vec::new();
    for (item, place) in list {
        match (place, items.last_mut()) {
            (Some(place), Some(Item::Same(_, to))) if *to == place => *to += 1,
            (Some(place), _) => items.push(Item::Same(place, place + 1)),
            (None, _) => items.push(Item::New(item)),
        }
    }
    items
}

/// The list that items make of the parent's. Lists are places in one row of all items there ever
/// were, as a long chain of checkpoints moves them about.
///
/// # Errors
///
/// Places that the parent's list does not have, or more of them than it has.
pub(super) fn after<T>(
    all: &mut Vec<T>,
    parent: &[usize],
    items: Vec<Item<T>>,
) -> Result<Vec<usize>, BoxError> {
    let mut list = Vec::new();
    let mut left = parent.len();
    for item in items {
        match item {
            Item::New(item) => {
                list.push(all.len());
                all.push(item);
            }
            Item::Same(from, to) => {
                let same = parent.get(from..to).ok_or("its parent's list is shorter")?;
                // A list that grows by itself would have no end.
                let more = "it has more of its parent's list than there is";
                left = left.checked_sub(same.len()).ok_or(more)?;
                list.extend_from_slice(same);
            }
        }
    }
    Ok(list)
}

/// The items of a list.
///
/// # Errors
///
/// One stands there twice.
pub(super) fn taken<T>(all: Vec<T>, list: Vec<usize>) -> Result<Vec<T>, BoxError> {
    let mut all: Vec<Option<T>> = all.into_iter().map(Some).collect();
    let mut take = |place: usize| all.get_mut(place)?.take();
    let items = list
        .into_iter()
        .map(|place| take(place).ok_or_else(|| "it has an item twice".into()));
    items.collect()
}

/// Where the questions stood in the parent's list.
pub(super) fn places<'a>(
    parent: &[Arc<Asked>],
    list: &'a [Arc<Asked>],
) -> Vec<(&'a Arc<Asked>, Option<usize>)> {
    let ids = parent.iter().map(|asked| asked.id.as_str());
    let mut places: HashMap<&str, usize> = ids.zip(0..).collect();
    // Each place once: a node may ask the same thing twice.
    let mut place = |asked: &Arc<Asked>| {
        let place = places.remove(asked.id.as_str());
        place.filter(|place| parent[*place] == *asked)
    };
    list.iter().map(|asked| (asked, place(asked))).collect()
}
