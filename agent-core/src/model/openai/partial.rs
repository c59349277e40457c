//! A call as far as it came: whether it is whole, and whether a piece begins another.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::fragment::Fragment;
use crate::json::Nesting;
use crate::message::ToolCall;
use crate::model::reading::cut::Seam;
use crate::model::reading::growing::Growing;

/// The longest empty object that only holds a place.
const LONGEST_EMPTY: usize = 16;

/// A call as far as it came.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    pub(super) index: Option<u64>,
    pub(super) id: SmolStr,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Between the pieces of the arguments.
    seam: Seam,
    growing: Growing,
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

impl PartialCall {
    /// A call that this opens; its arguments are taken as those of others.
    pub(super) fn begun_by(fragment: &mut Fragment<'_>) -> Self {
        Self {
            index: fragment.index,
            id: std::mem::take(&mut fragment.id).into(),
            name: std::mem::take(&mut fragment.name).into_owned(),
            ..Self::default()
        }
    }

    /// Goes on with a piece, and leaves the new arguments in it.
    pub(super) fn take(&mut self, fragment: &mut Fragment<'_>) {
        self.take_name(&fragment.name);
        if self.is_begun_as_empty(fragment) {
            self.clear_arguments();
        }
        self.seam.mend(&mut fragment.arguments);
        self.growing.note(&self.arguments, &fragment.arguments.text);
        self.arguments.push_str(&fragment.arguments.text);
        self.extra.extend(fragment.extra.drain(..));
    }

    /// Forgets the arguments: they come once more.
    pub(super) fn begin_arguments(&mut self) {
        self.clear_arguments();
        self.seam = Seam::default();
    }

    /// The whole call; without arguments, it only began where the answer was cut off.
    pub(super) fn end(mut self, is_cut: bool) -> ToolCall {
        self.arguments.push_str(self.seam.end());
        self.growing.end(&mut self.arguments);
        let only_began = is_cut && self.arguments.is_empty();
        let whole = match only_began {
            true => ToolCall::begun(self.id, self.name.into()),
            false => ToolCall::of(self.id, self.name.into(), self.arguments.into()),
        };
        whole.with_extra(self.extra)
    }

    pub(super) fn is_blank(&self) -> bool {
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
    pub(super) fn is_begun_as_empty(&self, fragment: &Fragment<'_>) -> bool {
        self.arguments.len() <= LONGEST_EMPTY
            && self.arguments.trim() == "{}"
            && fragment.arguments.text.trim_start().starts_with('{')
    }

    /// True if the fragment is this whole call again, or all of its arguments: some gateways send
    /// them in pieces, and then whole. <https://github.com/lidge-jun/opencodex/issues/361>
    pub(super) fn is_told_again(&mut self, fragment: &Fragment<'_>) -> bool {
        let has_its_id = !self.id.is_empty() && *fragment.id == *self.id;
        let is_call = has_its_id && fragment.name == self.name;
        let is_piece = fragment.name.is_empty() && (fragment.id.is_empty() || has_its_id);
        (is_call || is_piece) && fragment.arguments.text == self.arguments && self.is_whole()
    }

    /// True if this call is whole and the fragment is the beginning of another.
    pub(super) fn is_whole_before(&mut self, fragment: &Fragment<'_>) -> bool {
        let opens = match fragment.arguments.text.trim_start() {
            "" => fragment.name != self.name,
            arguments => arguments.starts_with('{'),
        };
        !fragment.name.is_empty() && opens && self.is_whole()
    }

    pub(super) fn is_whole(&mut self) -> bool {
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
        self.growing = Growing::default();
        (self.form, self.seen) = Default::default();
    }
}

fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
