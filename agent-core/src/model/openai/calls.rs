//! Puts the calls of an answer together from their pieces. Pure.

use smol_str::SmolStr;

use super::fragment::Fragment;
use super::latest::Latest;
use super::partial::PartialCall;
use crate::id::FEW;
use crate::message::ToolCall;

/// The calls so far, in order.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<PartialCall>,
    /// Where to find them, if there are many.
    latest: Option<Latest>,
    /// How many values of theirs are not known.
    values: usize,
}

impl Calls {
    /// How many calls there are, and values in them that are not known.
    pub(super) fn parts(&self) -> usize {
        self.calls.len() + self.values
    }

    /// Takes a piece of a call that is being written; gives its place and what is known of it.
    /// `is_later` tells that it stands behind others in one list.
    pub(super) fn take(
        &mut self,
        fragment: &mut Fragment<'_>,
        is_later: bool,
    ) -> Option<(usize, &PartialCall)> {
        let place = self.place(fragment, is_later).unwrap_or(self.calls.len());
        let is_told = |call: &mut PartialCall| call.is_told_again(fragment);
        if self.calls.get_mut(place).is_some_and(is_told) {
            return None;
        }
        self.put(place, fragment)
    }

    /// Takes the call at this place whole: it stands for all that came of it before.
    pub(super) fn replace(
        &mut self,
        place: usize,
        fragment: &mut Fragment<'_>,
    ) -> Option<(usize, &PartialCall)> {
        if let Some(call) = self.calls.get_mut(place) {
            call.begin_arguments();
        }
        self.put(place.min(self.calls.len()), fragment)
    }

    /// The same of a plain answer, which holds each call once. Takes the arguments away.
    pub(super) fn whole(&mut self, place: usize, fragment: &mut Fragment<'_>) {
        let arguments = std::mem::take(&mut fragment.arguments);
        let place = place.min(self.calls.len());
        self.replace(place, fragment);
        if let Some(call) = self.calls.get_mut(place) {
            call.arguments = arguments.whole().into_owned();
        }
    }

    /// Leaves the new arguments in the fragment.
    fn put(&mut self, place: usize, fragment: &mut Fragment<'_>) -> Option<(usize, &PartialCall)> {
        let is_new = place == self.calls.len();
        if is_new {
            self.calls.push(PartialCall::begun_by(fragment));
        }
        let call = self.calls.get_mut(place)?;
        let has_late_id = call.id.is_empty() && !fragment.id.is_empty();
        if has_late_id {
            call.id = SmolStr::new(&fragment.id);
        }
        if is_new || has_late_id {
            self.note(place);
        }
        let call = self.calls.get_mut(place)?;
        call.take(fragment);
        self.values += fragment.values;
        Some((place, call))
    }

    /// The call a fragment goes on with; `None` if it opens a new one.
    ///
    /// An id that is known goes on with its call and a new one opens one, whatever the index
    /// says: some servers number every call 0. Without an id the index decides, and without
    /// both it is the last call, unless that one is whole and a name comes again, or both stand in
    /// one list. An id that comes again behind a whole call opens another one, unless it is the
    /// same call, told twice, or what came before only held the place of its arguments.
    fn place(&mut self, fragment: &Fragment<'_>, is_later: bool) -> Option<usize> {
        if is_later && fragment.is_named_only() {
            return None;
        }
        let Some(latest) = self.latest(None, fragment.index) else {
            return self.stray(fragment);
        };
        if fragment.id.is_empty() {
            let call = self.calls.get_mut(latest)?;
            return (!call.is_whole_before(fragment)).then_some(latest);
        }
        if let Some(known) = self.latest(Some(&fragment.id), fragment.index) {
            let call = self.calls.get_mut(known)?;
            let goes_on = call.is_told_again(fragment)
                || !call.is_whole_before(fragment)
                || (fragment.index.is_some() && call.is_begun_as_empty(fragment));
            return goes_on.then_some(known);
        }
        // A late id belongs to the call that waits for one, if both have a number. Some servers
        // make up an id for every fragment; what opens a call has a name.
        let call = self.calls.get_mut(latest)?;
        let waits = call.id.is_empty() && fragment.index.is_some();
        let goes_on = waits || (fragment.name.is_empty() && !fragment.arguments.is_empty());
        (goes_on && !call.is_whole_before(fragment)).then_some(latest)
    }

    /// The latest call that may have this number, of those of this id if there is one.
    fn latest(&self, id: Option<&str>, number: Option<u64>) -> Option<usize> {
        if let Some(latest) = &self.latest {
            return latest.of(id, number);
        }
        self.calls.iter().rposition(|call| {
            let same_number = call.index.is_none() || number.is_none() || call.index == number;
            same_number && id.is_none_or(|id| call.id == id)
        })
    }

    /// Makes a call, or its late id, be found.
    fn note(&mut self, place: usize) {
        if let Some(latest) = &mut self.latest {
            if let Some(call) = self.calls.get(place) {
                latest.note(place, &call.id, call.index);
            }
        } else if self.calls.len() > FEW {
            let latest = self.latest.insert(Latest::default());
            for (place, call) in self.calls.iter().enumerate() {
                latest.note(place, &call.id, call.index);
            }
        }
    }

    /// The last call, if it is not whole and the fragment is a piece of one with a number that no
    /// call has: some servers count the pieces.
    /// <https://github.com/dirac-run/dirac/pull/215>
    fn stray(&mut self, fragment: &Fragment<'_>) -> Option<usize> {
        let is_piece = fragment.name.is_empty() && !fragment.arguments.is_empty();
        let last = self.calls.len().checked_sub(1)?;
        (is_piece && !self.calls.get_mut(last)?.is_whole()).then_some(last)
    }

    /// The whole calls, each with an id of its own. Of an answer that was cut off, the last call
    /// may be one that only began.
    pub(super) fn end(&mut self, is_cut: bool) -> impl ExactSizeIterator<Item = ToolCall> + use<> {
        self.latest = None;
        let mut calls = std::mem::take(&mut self.calls);
        let is_cut = is_cut && calls.last().is_some_and(|call| !call.is_blank());
        calls.retain(|call| !call.is_blank());
        crate::id::make_unique(&mut calls, "call", |call| &mut call.id);
        let last = calls.len().wrapping_sub(1);
        let calls = calls.into_iter().enumerate();
        calls.map(move |(place, call)| call.end(is_cut && place == last))
    }
}
