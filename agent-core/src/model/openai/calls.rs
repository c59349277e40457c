//! Puts the calls of an answer together from their pieces. Pure.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::fragment::Fragment;
use super::latest::Latest;
use crate::id::FEW;
use crate::json::Nesting;
use crate::message::ToolCall;
use crate::model::reading::cut::Seam;

/// The longest empty object that only holds a place.
const LONGEST_EMPTY: usize = 16;

/// The calls so far, in order.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<PartialCall>,
    /// Where to find them, if there are many.
    latest: Option<Latest>,
}

/// A call as far as it came.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    arguments: String,
    seam: Seam,
    extra: Map<String, Value>,
    form: Form,
    /// How many bytes of the arguments it takes in.
    seen: usize,
}

/// What arguments are so far: kept, so that long ones are not read again and again.
#[derive(Debug)]
enum Form {
    Open(Nesting),
    /// An object.
    Whole,
    /// No object, whatever comes after.
    Broken,
}

impl Default for Form {
    fn default() -> Self {
        Self::Open(Nesting::default())
    }
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
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
            call.clear_arguments();
            call.seam = Seam::default();
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
            self.calls.push(PartialCall {
                index: fragment.index,
                id: std::mem::take(&mut fragment.id).into_owned(),
                name: std::mem::take(&mut fragment.name).into_owned(),
                ..PartialCall::default()
            });
        }
        let call = self.calls.get_mut(place)?;
        let has_late_id = call.id.is_empty() && !fragment.id.is_empty();
        if has_late_id {
            call.id.push_str(&fragment.id);
        }
        if is_new || has_late_id {
            self.note(place);
        }
        let call = self.calls.get_mut(place)?;
        call.take_name(&fragment.name);
        if call.is_begun_as_empty(fragment) {
            call.clear_arguments();
        }
        call.seam.mend(&mut fragment.arguments);
        call.arguments.push_str(&fragment.arguments.text);
        call.extra.extend(fragment.extra.drain(..));
        Some((place, call))
    }

    /// The call a fragment goes on with; `None` if it opens a new one.
    ///
    /// An id that is known goes on with its call and a new one opens one, whatever the index
    /// says: some servers number every call 0. Without an id the index decides, and without
    /// both it is the last call, unless that one is whole and a name comes again, or both stand in
    /// one list. An id that comes again behind a whole call opens another one, unless it is the
    /// same call, told twice.
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
            let goes_on = call.is_told_again(fragment) || !call.is_whole_before(fragment);
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
        calls.into_iter().enumerate().map(move |(place, mut call)| {
            call.arguments.push_str(call.seam.end());
            let only_began = is_cut && place == last && call.arguments.is_empty();
            let mut whole = match only_began {
                true => ToolCall::begun(call.id, call.name),
                false => ToolCall::new(call.id, call.name, call.arguments),
            };
            whole.extra = call.extra;
            whole
        })
    }
}

impl PartialCall {
    fn is_blank(&self) -> bool {
        self.name.is_empty() && self.arguments.is_empty()
    }

    /// A name comes whole, again in every chunk, in pieces, or growing.
    fn take_name(&mut self, name: &str) {
        if let Some(more) = name.strip_prefix(&*self.name) {
            self.name.push_str(more);
        } else if self.arguments.is_empty() {
            self.name.push_str(name);
        }
    }

    /// True if the arguments so far are an empty object that only holds their place: some gateways
    /// open a call of Anthropic's with it, and its arguments come after.
    /// <https://github.com/BerriAI/litellm/issues/4537>
    fn is_begun_as_empty(&self, fragment: &Fragment<'_>) -> bool {
        self.arguments.len() <= LONGEST_EMPTY
            && self.arguments.trim() == "{}"
            && fragment.arguments.text.trim_start().starts_with('{')
    }

    /// True if the fragment is this whole call again, or all of its arguments: some gateways send
    /// them in pieces, and then whole. <https://github.com/lidge-jun/opencodex/issues/361>
    fn is_told_again(&mut self, fragment: &Fragment<'_>) -> bool {
        let has_its_id = !self.id.is_empty() && fragment.id == self.id;
        let is_call = has_its_id && fragment.name == self.name;
        let is_piece = fragment.name.is_empty() && (fragment.id.is_empty() || has_its_id);
        (is_call || is_piece) && fragment.arguments.text == self.arguments && self.is_whole()
    }

    /// True if this call is whole and the fragment is the beginning of another.
    fn is_whole_before(&mut self, fragment: &Fragment<'_>) -> bool {
        let opens = match fragment.arguments.text.trim_start() {
            "" => fragment.name != self.name,
            arguments => arguments.starts_with('{'),
        };
        !fragment.name.is_empty() && opens && self.is_whole()
    }

    fn is_whole(&mut self) -> bool {
        let new = self.arguments.get(self.seen..).unwrap_or_default();
        self.seen = self.arguments.len();
        match &mut self.form {
            Form::Open(nesting) => {
                nesting.push(new);
                if nesting.is_closed() {
                    self.form = match is_object(&self.arguments) {
                        true => Form::Whole,
                        false => Form::Broken,
                    };
                }
            }
            Form::Whole if !new.trim().is_empty() => self.form = Form::Broken,
            Form::Whole | Form::Broken => {}
        }
        matches!(self.form, Form::Whole)
    }

    fn clear_arguments(&mut self) {
        self.arguments.clear();
        (self.form, self.seen) = Default::default();
    }
}

fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
