//! What was asked in steps that are not over, and which of it something is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record::{Asked, Note};

/// The questions, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Open {
    asked: Vec<Arc<Asked>>,
    /// Their places in it, by node and key.
    places: BTreeMap<(String, String), Vec<usize>>,
}

impl Open {
    pub(super) fn extend(&mut self, more: impl IntoIterator<Item = Arc<Asked>>) {
        for asked in more {
            let key = (asked.node.clone(), asked.key.clone());
            self.places.entry(key).or_default().push(self.asked.len());
            self.asked.push(asked);
        }
    }

    /// Those that a node noted something about: what it asked, or what a part of it asked.
    pub(super) fn about(&self, note: &Note) -> impl Iterator<Item = &Arc<Asked>> {
        let key = |end: &str| (note.node.clone(), [&note.key, end].concat());
        let own = self.places.get(&key(""));
        // The keys of the parts: no character stands between `/` and `0`.
        let of_parts = self.places.range(key("/")..key("0"));
        let places = own.into_iter().chain(of_parts.map(|(_, places)| places));
        places.flatten().filter_map(|place| self.asked.get(*place))
    }

    /// Those that a node asked which has ended, or something inside of it.
    pub(super) fn inside(&self, path: &str, node: &str) -> impl Iterator<Item = &Arc<Asked>> {
        let is_inside = move |asked: &&Arc<Asked>| {
            let rest = asked.node.strip_prefix(path);
            let rest = rest.and_then(|rest| rest.strip_prefix(node));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '>']))
        };
        self.asked.iter().filter(is_inside)
    }

    pub(super) fn into_all(self) -> Vec<Arc<Asked>> {
        self.asked
    }
}
