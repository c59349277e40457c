//! Which call of an answer is the latest of its number and of its id.

use std::collections::HashMap;

/// The places of the latest calls, where there are too many to look at each.
#[derive(Debug, Default)]
pub(super) struct Latest {
    all: Numbers,
    by_id: HashMap<String, Numbers>,
}

/// The latest of some calls by number.
#[derive(Debug, Default)]
struct Numbers {
    any: Option<usize>,
    /// Of those that have none.
    unnumbered: Option<usize>,
    numbered: HashMap<u64, usize>,
}

impl Latest {
    /// Takes in a call, or the id that it got late.
    pub(super) fn note(&mut self, place: usize, id: &str, number: Option<u64>) {
        self.all.note(place, number);
        if id.is_empty() {
            return;
        }
        match self.by_id.get_mut(id) {
            Some(numbers) => numbers.note(place, number),
            None => self
                .by_id
                .entry(id.to_owned())
                .or_default()
                .note(place, number),
        }
    }

    /// The latest call that may have this number, of those of this id if there is one.
    pub(super) fn of(&self, id: Option<&str>, number: Option<u64>) -> Option<usize> {
        match id {
            None => self.all.of(number),
            Some(id) => self.by_id.get(id)?.of(number),
        }
    }
}

impl Numbers {
    /// An earlier call may come after a later one, as its id came late.
    fn note(&mut self, place: usize, number: Option<u64>) {
        let place = Some(place);
        self.any = self.any.max(place);
        match number {
            None => self.unnumbered = self.unnumbered.max(place),
            Some(number) => {
                let latest = self.numbered.get(&number).copied().max(place);
                self.numbered.extend(latest.map(|latest| (number, latest)));
            }
        }
    }

    /// Without a number it may be any; with one, that or none.
    fn of(&self, number: Option<u64>) -> Option<usize> {
        match number {
            None => self.any,
            Some(number) => self.numbered.get(&number).copied().max(self.unnumbered),
        }
    }
}
