//! The schema of a tool as one provider takes it.
//!
//! Every provider takes a part of JSON Schema, and each another one. A [`Dialect`] is a table
//! ([`providers`]) of what a provider keeps, rewrites and refuses; [`Dialect::translate`] applies
//! it to the neutral schema and says what it changed, and why.
//!
//! A value that fits the translated schema is read by the tool, but for what a [`Change`]
//! with [`ChangeEffect::Looser`] names: that is told to the model in words, and checked when the
//! arguments are read.
//!
//! Not here: what all tools of a request make together (`tool::report`), how a request is
//! written (`model`).

mod circles;
mod limits;
mod measure;
mod merge;
mod null;
mod object;
mod optional_nulls;
mod plan;
mod providers;
mod refs;
mod rewrite;
mod root;
mod table;
mod unions;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use serde_json::Value;

pub use limits::DialectLimits;
pub use measure::Size;
pub use optional_nulls::without_optional_nulls;
pub(crate) use plan::{Sent, plan};

/// A named dialect of JSON Schema: what one provider takes as the input of a tool.
///
/// ```
/// use agent_core::schema::Dialect;
/// use serde_json::json;
///
/// let neutral = json!({
///     "type": "object",
///     "properties": {"city": {"type": "string", "maxLength": 40}, "days": {"type": "integer"}},
///     "required": ["city"],
///     "additionalProperties": false,
/// });
/// let strict = Dialect::OpenAiStrict.translate(&neutral);
///
/// assert!(strict.strict);
/// assert_eq!(strict.text, concat!(
///     r#"{"type":"object","properties":{"city":{"type":"string","description":"(at most 40 characters)"},"#,
///     r#""days":{"type":["integer","null"]}},"required":["city","days"],"additionalProperties":false}"#,
/// ));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The schema as it is.
    Neutral,
    /// OpenAI and those who speak its API, functions without `strict`.
    OpenAi,
    /// OpenAI, functions with `strict: true`. What cannot be strict is written as `OpenAi`.
    OpenAiStrict,
    /// Anthropic, tools without `strict`.
    Anthropic,
    /// Anthropic, tools with `strict: true`. What cannot be strict is written as `Anthropic`.
    AnthropicStrict,
    /// Gemini's `parameters`, a subset of OpenAPI 3.0.
    Gemini,
    /// Mistral.
    Mistral,
    /// As `Gemini`, with type names in upper case: its old form. Like that, it has no
    /// `additionalProperties`.
    UpperCase,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 8] = [
        Self::Neutral,
        Self::OpenAi,
        Self::OpenAiStrict,
        Self::Anthropic,
        Self::AnthropicStrict,
        Self::Gemini,
        Self::Mistral,
        Self::UpperCase,
    ];

    /// The name, for example `openai-strict`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.rules().name
    }

    /// True if tools of this dialect are sent with `strict: true` where they can be.
    #[must_use]
    pub const fn is_strict(self) -> bool {
        self.rules().lenient.is_some()
    }

    /// How large names, schemas and requests can be.
    #[must_use]
    pub const fn limits(self) -> &'static DialectLimits {
        self.rules().limits
    }

    /// Where the rules of the dialect are written down.
    #[must_use]
    pub const fn sources(self) -> &'static [&'static str] {
        self.rules().sources
    }

    /// The dialect in which a tool is written that cannot be strict; itself if it is not strict.
    #[must_use]
    pub const fn lenient(self) -> Self {
        match self.rules().lenient {
            Some(lenient) => lenient,
            None => self,
        }
    }

    /// Writes a neutral schema in this dialect.
    #[must_use]
    pub fn translate(self, neutral: &Value) -> DialectSchema {
        let rules = self.rules();
        let (schema, changes) = rewrite::rewrite(rules, neutral);
        let cannot = |change: &Change| change.effect == ChangeEffect::NotStrict;
        let Some(lenient) = rules.lenient.filter(|_| changes.iter().any(cannot)) else {
            return DialectSchema::new(self.is_strict(), schema, changes);
        };
        let mut written = lenient.translate(neutral);
        written
            .changes
            .splice(0..0, changes.into_iter().filter(cannot));
        written
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is none of a [`Dialect`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no schema dialect; there are {names}", names = names())]
pub struct UnknownDialect(String);

fn names() -> String {
    let names: Vec<String> = Dialect::ALL.iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

/// A schema written in a [`Dialect`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DialectSchema {
    /// The schema.
    pub schema: Value,
    /// Its JSON text.
    pub text: String,
    /// Whether the tool can be sent with `strict: true`.
    pub strict: bool,
    /// What differs from the neutral schema, in the order of the schema.
    pub changes: Vec<Change>,
    /// How large the schema is.
    pub size: Size,
}

impl DialectSchema {
    fn new(strict: bool, schema: Value, changes: Vec<Change>) -> Self {
        Self {
            text: schema.to_string(),
            size: Size::of(&schema),
            schema,
            strict,
            changes,
        }
    }
}

/// One difference between a schema and its form in a dialect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Change {
    /// Where, as a JSON pointer into the neutral schema; empty for the root.
    pub pointer: String,
    /// What, for example `` `maxLength` ``.
    pub what: Cow<'static, str>,
    /// Why, and what is done instead.
    pub why: Cow<'static, str>,
    /// What it does to the schema.
    pub effect: ChangeEffect,
}

/// What a [`Change`] does to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeEffect {
    /// The same is said in another way.
    Same,
    /// Fewer values fit than before; each still is one the tool takes.
    Narrower,
    /// More values fit than before. What is lost is told in the description.
    Looser,
    /// The tool cannot be strict.
    NotStrict,
    /// The provider refuses the request.
    Refused,
}

/// One schema in every dialect it was asked for in.
#[derive(Debug, Default)]
pub(crate) struct Translations(OnceLock<Box<[OnceLock<DialectSchema>; Dialect::ALL.len()]>>);

impl Translations {
    /// The schema in this dialect, written the first time it is asked for.
    pub(crate) fn get(&self, dialect: Dialect, neutral: &Value) -> &DialectSchema {
        let written = self.0.get_or_init(Box::default);
        written[dialect as usize].get_or_init(|| dialect.translate(neutral))
    }
}
