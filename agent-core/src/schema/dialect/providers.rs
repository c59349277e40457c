//! The table of each dialect: data only.
//!
//! Read from the providers' documents and from the errors of their servers in autumn 2026;
//! `sources` names where. A keyword that is in no list of a dialect has the fate `others`.

use super::table::{Fate, Null, Objects, Optional, References, Rules};
use super::{Dialect, DialectLimits};

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

/// What both strict dialects keep.
const STRICT: &[&str] = &[
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
    "minItems",
];

const BOUNDS: &[&str] = &["minimum", "maximum"];
const EXACT_BOUNDS: &[&str] = &["multipleOf", "exclusiveMinimum", "exclusiveMaximum"];
const LENGTHS: &[&str] = &["minLength", "maxLength"];
const COUNTS: &[&str] = &["minProperties", "maxProperties"];

/// What no provider but OpenAI's non-strict functions and Mistral enforces.
const TOLD: &[&str] = &[
    "examples",
    "uniqueItems",
    "propertyNames",
    "contains",
    "minContains",
    "maxContains",
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
];

/// What leaves no schema that both strict dialects could enforce.
const NEVER_STRICT: &[&str] = &[
    "prefixItems",
    "patternProperties",
    "additionalItems",
    "$dynamicRef",
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
    limits: &DialectLimits::NONE,
    sources: &["https://json-schema.org/draft/2020-12"],
};

const OPENAI: Rules = Rules {
    name: "openai",
    verbatim: false,
    keywords: &[(Fate::Drop, MARKS)],
    limits: &DialectLimits::OPENAI,
    sources: &["https://platform.openai.com/docs/guides/function-calling"],
    ..NEUTRAL
};

const OPENAI_STRICT: Rules = Rules {
    name: "openai-strict",
    lenient: Some(Dialect::OpenAi),
    keywords: &[
        (Fate::Keep, STRICT),
        (Fate::Keep, BOUNDS),
        (Fate::Keep, EXACT_BOUNDS),
        (Fate::Keep, &["maxItems"]),
        (Fate::Rewrite, &["oneOf", "allOf"]),
        (Fate::Tell, TOLD),
        (Fate::Tell, LENGTHS),
        (Fate::Tell, COUNTS),
        (Fate::Tell, &["default"]),
        (Fate::Stop, NEVER_STRICT),
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
    limits: &DialectLimits::OPENAI_STRICT,
    sources: &[
        "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
        "https://github.com/openai/openai-python/issues/2193",
    ],
    ..OPENAI
};

const ANTHROPIC: Rules = Rules {
    name: "anthropic",
    property_names: ("^[a-zA-Z0-9_.-]{1,64}$", is_anthropic_name),
    limits: &DialectLimits::ANTHROPIC,
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools"],
    ..OPENAI
};

const ANTHROPIC_STRICT: Rules = Rules {
    name: "anthropic-strict",
    lenient: Some(Dialect::Anthropic),
    keywords: &[
        (Fate::Keep, STRICT),
        (Fate::Keep, &["default"]),
        (Fate::Rewrite, &["oneOf", "allOf"]),
        (Fate::Tell, TOLD),
        (Fate::Tell, BOUNDS),
        (Fate::Tell, EXACT_BOUNDS),
        (Fate::Tell, LENGTHS),
        (Fate::Tell, COUNTS),
        (Fate::Tell, &["maxItems"]),
        (Fate::Stop, NEVER_STRICT),
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
    limits: &DialectLimits::ANTHROPIC_STRICT,
    sources: &[
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations",
    ],
    ..OPENAI
};

const GEMINI: Rules = Rules {
    name: "gemini",
    keywords: &[
        (Fate::Keep, &["type", "nullable", "properties", "required"]),
        (Fate::Keep, &["items", "enum", "anyOf", "description"]),
        (Fate::Keep, &["default", "format", "pattern"]),
        (Fate::Keep, &["minItems", "maxItems"]),
        (Fate::Keep, BOUNDS),
        (Fate::Keep, LENGTHS),
        (Fate::Keep, COUNTS),
        (Fate::Rewrite, &["const", "oneOf", "allOf"]),
        (Fate::Rewrite, &["prefixItems", "additionalProperties"]),
        (Fate::Tell, TOLD),
        (Fate::Tell, EXACT_BOUNDS),
        (Fate::Tell, &["patternProperties"]),
    ],
    others: Fate::Drop,
    references: References::Inline,
    null: Null::Nullable,
    objects: Objects::Unsaid,
    formats: Some(&["date-time"]),
    text_enums: true,
    property_names: ("^[a-zA-Z_][a-zA-Z0-9_]{0,63}$", is_gemini_name),
    limits: &DialectLimits::GEMINI,
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
    limits: &DialectLimits::MISTRAL,
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
