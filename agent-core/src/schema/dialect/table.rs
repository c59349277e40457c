//! What each dialect keeps, rewrites and refuses: data only.
//!
//! Read from the providers' documents and from the errors of their servers in autumn 2026;
//! `sources` names where. A keyword that is in no list of a dialect has the fate `others`.

use super::{Dialect, Limits};

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
    pub(super) limits: &'static Limits,
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

/// Keywords that name a schema or speak to its reader; models do not read them.
const MARKS: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$comment",
    "$vocabulary",
    "$dynamicAnchor",
];

const NEUTRAL: Rules = Rules {
    name: "neutral",
    lenient: None,
    verbatim: true,
    keywords: &[],
    others: Fate::Keep,
    references: References::Keep,
    null: Null::Type,
    optional: Optional::Keep,
    objects: Objects::Any,
    formats: None,
    min_items: None,
    text_enums: false,
    anything: true,
    distinct_first_keys: false,
    property_names: ("", |_| true),
    upper_case: false,
    limits: &Limits::NONE,
    sources: &["https://json-schema.org/draft/2020-12"],
};

const OPENAI: Rules = Rules {
    name: "openai",
    verbatim: false,
    keywords: &[(Fate::Drop, MARKS)],
    limits: &Limits::OPENAI,
    sources: &["https://platform.openai.com/docs/guides/function-calling"],
    ..NEUTRAL
};

const OPENAI_STRICT: Rules = Rules {
    name: "openai-strict",
    lenient: Some(Dialect::OpenAi),
    keywords: &[
        (
            Fate::Keep,
            &[
                "type",
                "$defs",
                "$ref",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "enum",
                "const",
                "anyOf",
                "title",
                "description",
                "pattern",
                "format",
                "multipleOf",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "minItems",
                "maxItems",
            ],
        ),
        (Fate::Rewrite, &["oneOf", "allOf"]),
        (
            Fate::Tell,
            &[
                "default",
                "examples",
                "minLength",
                "maxLength",
                "uniqueItems",
                "minProperties",
                "maxProperties",
                "propertyNames",
                "contains",
                "minContains",
                "maxContains",
                "not",
                "if",
                "dependentRequired",
                "dependentSchemas",
            ],
        ),
        (
            Fate::Stop,
            &[
                "prefixItems",
                "patternProperties",
                "additionalItems",
                "$dynamicRef",
            ],
        ),
    ],
    others: Fate::Drop,
    references: References::KeepAlone,
    optional: Optional::RequiredOrNull,
    objects: Objects::Closed,
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    anything: false,
    distinct_first_keys: true,
    limits: &Limits::OPENAI_STRICT,
    sources: &[
        "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
        "https://github.com/openai/openai-python/issues/2193",
    ],
    ..OPENAI
};

const ANTHROPIC: Rules = Rules {
    name: "anthropic",
    property_names: ("^[a-zA-Z0-9_.-]{1,64}$", is_anthropic_name),
    limits: &Limits::ANTHROPIC,
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"],
    ..OPENAI
};

const ANTHROPIC_STRICT: Rules = Rules {
    name: "anthropic-strict",
    lenient: Some(Dialect::Anthropic),
    keywords: &[
        (
            Fate::Keep,
            &[
                "type",
                "$defs",
                "$ref",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "enum",
                "const",
                "anyOf",
                "default",
                "title",
                "description",
                "pattern",
                "format",
                "minItems",
            ],
        ),
        (Fate::Rewrite, &["oneOf", "allOf"]),
        (
            Fate::Tell,
            &[
                "examples",
                "multipleOf",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "minLength",
                "maxLength",
                "maxItems",
                "uniqueItems",
                "minProperties",
                "maxProperties",
                "propertyNames",
                "contains",
                "minContains",
                "maxContains",
                "not",
                "if",
                "dependentRequired",
                "dependentSchemas",
            ],
        ),
        (
            Fate::Stop,
            &[
                "prefixItems",
                "patternProperties",
                "additionalItems",
                "$dynamicRef",
            ],
        ),
    ],
    others: Fate::Drop,
    references: References::KeepWithoutCircles,
    optional: Optional::WithoutNull,
    objects: Objects::Closed,
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    min_items: Some(1),
    anything: false,
    property_names: ("^[a-zA-Z0-9_.-]{1,64}$", is_anthropic_name),
    limits: &Limits::ANTHROPIC_STRICT,
    sources: &[
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations",
    ],
    ..OPENAI
};

const GEMINI: Rules = Rules {
    name: "gemini",
    keywords: &[
        (
            Fate::Keep,
            &[
                "type",
                "nullable",
                "properties",
                "required",
                "items",
                "enum",
                "anyOf",
                "description",
                "default",
                "format",
                "pattern",
                "minimum",
                "maximum",
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties",
            ],
        ),
        (
            Fate::Rewrite,
            &[
                "const",
                "oneOf",
                "allOf",
                "prefixItems",
                "additionalProperties",
            ],
        ),
        (
            Fate::Tell,
            &[
                "examples",
                "multipleOf",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "uniqueItems",
                "patternProperties",
                "propertyNames",
                "contains",
                "minContains",
                "maxContains",
                "not",
                "if",
                "dependentRequired",
                "dependentSchemas",
            ],
        ),
    ],
    others: Fate::Drop,
    references: References::Inline,
    null: Null::Nullable,
    objects: Objects::Unsaid,
    formats: Some(&["date-time"]),
    text_enums: true,
    property_names: ("^[a-zA-Z_][a-zA-Z0-9_]{0,63}$", is_gemini_name),
    limits: &Limits::GEMINI,
    sources: &[
        "https://ai.google.dev/api/caching#Schema",
        "https://ai.google.dev/gemini-api/docs/function-calling",
    ],
    ..OPENAI
};

const UPPER_CASE: Rules = Rules {
    name: "upper-case",
    upper_case: true,
    ..GEMINI
};

const MISTRAL: Rules = Rules {
    name: "mistral",
    keywords: &[
        (Fate::Drop, MARKS),
        (Fate::Tell, &["pattern", "minLength", "maxLength", "format"]),
    ],
    limits: &Limits::MISTRAL,
    sources: &[
        "https://docs.mistral.ai/capabilities/function_calling",
        "https://github.com/BerriAI/litellm/pull/13389",
        "https://github.com/browser-use/browser-use/issues/3098",
    ],
    ..OPENAI
};

fn is_anthropic_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(fits)
}

fn is_gemini_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let digit = name.starts_with(|first: char| first.is_ascii_digit());
    (1..=64).contains(&name.len()) && !digit && name.bytes().all(fits)
}

impl Dialect {
    pub(super) const fn rules(self) -> &'static Rules {
        match self {
            Self::Neutral => &NEUTRAL,
            Self::OpenAi => &OPENAI,
            Self::OpenAiStrict => &OPENAI_STRICT,
            Self::Anthropic => &ANTHROPIC,
            Self::AnthropicStrict => &ANTHROPIC_STRICT,
            Self::Gemini => &GEMINI,
            Self::Mistral => &MISTRAL,
            Self::UpperCase => &UPPER_CASE,
        }
    }
}
