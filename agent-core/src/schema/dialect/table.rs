//! What the table of a dialect says; the tables themselves stand in `providers`.

use super::{Dialect, DialectLimits};

/// What becomes of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays.
    Keep,
    /// It is said with other keywords; how, stands in `rewrite`.
    Rewrite,
    /// It goes, and the description says in words what it said.
    Tell,
    /// It goes; no value fits more or less.
    Drop,
    /// With it, a tool cannot be strict.
    Stop,
}

/// Which `$ref` are taken. One that leads elsewhere than to `#` or `#/$defs/name` is always
/// replaced by what it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum References {
    /// All.
    Keep,
    /// All but in a circle; with one, a tool cannot be strict.
    KeepWithoutCircles,
    /// All, with no other keyword beside them.
    KeepAlone,
    /// None: what they lead to is put in their place.
    Inline,
}

/// How "or null" is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Null {
    /// As JSON Schema does: `"type":[…,"null"]`, `anyOf` with null.
    Type,
    /// By `"nullable":true`.
    Nullable,
}

/// What becomes of a property that is not required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Optional {
    /// It stays.
    Keep,
    /// It is required, and can be null.
    RequiredOrNull,
    /// It stays; that it could also be null goes, as this counts as a union.
    WithoutNull,
}

/// What objects must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objects {
    /// Anything.
    Any,
    /// `additionalProperties: false`, always; with an open map a tool cannot be strict.
    Closed,
    /// `additionalProperties` is not known; that of a map is told.
    Unsaid,
}

/// The table of a dialect.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) name: &'static str,
    /// For a strict dialect, the one of tools that cannot be strict.
    pub(super) lenient: Option<Dialect>,
    /// True if nothing is changed at all.
    pub(super) verbatim: bool,
    pub(super) keywords: &'static [(Fate, &'static [&'static str])],
    pub(super) others: Fate,
    pub(super) references: References,
    pub(super) null: Null,
    pub(super) optional: Optional,
    pub(super) objects: Objects,
    /// The values of `format` that are taken; `None` for all. Those of number types go always.
    pub(super) formats: Option<&'static [&'static str]>,
    /// The largest `minItems` that is taken.
    pub(super) min_items: Option<u64>,
    /// True if enum values can only be texts.
    pub(super) text_enums: bool,
    /// True if a schema without any rule, `{}`, is taken.
    pub(super) anything: bool,
    /// True if objects of one `anyOf` may not begin with the same property.
    pub(super) distinct_first_keys: bool,
    /// What the names of the tool's own properties must fit, as a pattern and as a check.
    pub(super) property_names: (&'static str, fn(&str) -> bool),
    /// True if type names are in upper case.
    pub(super) upper_case: bool,
    pub(super) limits: &'static DialectLimits,
    pub(super) sources: &'static [&'static str],
}

impl Rules {
    pub(super) fn fate(&self, keyword: &str) -> Fate {
        let listed = self
            .keywords
            .iter()
            .find(|(_, list)| list.contains(&keyword));
        listed.map_or(self.others, |(fate, _)| *fate)
    }
}
