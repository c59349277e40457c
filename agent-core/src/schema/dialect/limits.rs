//! How large what a provider is sent can be. The figures change: they stand here only.

/// DialectLimits of a provider; `None` where none is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectLimits {
    /// Tools of one request.
    pub tools: Option<usize>,
    /// Characters of a tool's name.
    pub name: Option<usize>,
    /// Characters of a tool's description.
    pub description: Option<usize>,
    /// Properties of one strict schema, at all depths.
    pub properties: Option<usize>,
    /// How deep objects and lists of one strict schema stand in each other; the root is one.
    pub depth: Option<usize>,
    /// Enum values of one strict schema.
    pub enum_values: Option<usize>,
    /// Characters of all names, enum values and constants of one strict schema.
    pub characters: Option<usize>,
    /// Characters of one enum of a strict schema that has more than 250 values.
    pub long_enum: Option<usize>,
    /// Strict tools of one request.
    pub strict_tools: Option<usize>,
    /// Properties that are not required, in all strict tools of one request.
    pub optional_properties: Option<usize>,
    /// Schemas with `anyOf` or several types, in all strict tools of one request.
    pub unions: Option<usize>,
}

impl DialectLimits {
    /// An enum with more values has a limit of its own.
    pub(super) const LONG_ENUM: usize = 250;

    pub(super) const NONE: Self = Self {
        tools: None,
        name: None,
        description: None,
        properties: None,
        depth: None,
        enum_values: None,
        characters: None,
        long_enum: None,
        strict_tools: None,
        optional_properties: None,
        unions: None,
    };

    /// OpenAI's reference of chat completions: at most 128 functions, names up to 64 characters;
    /// descriptions above 1,024 are answered with 400.
    pub(super) const OPENAI: Self = Self {
        tools: Some(128),
        name: Some(64),
        description: Some(1024),
        ..Self::NONE
    };

    /// OpenAI's guide "Structured model outputs", section "Supported schemas".
    pub(super) const OPENAI_STRICT: Self = Self {
        properties: Some(5000),
        depth: Some(10),
        enum_values: Some(1000),
        characters: Some(120_000),
        long_enum: Some(15_000),
        ..Self::OPENAI
    };

    /// Anthropic's reference of `tools`: names up to 128 characters.
    pub(super) const ANTHROPIC: Self = Self {
        name: Some(128),
        ..Self::NONE
    };

    /// Anthropic's guide "Structured outputs", section on the complexity of schemas.
    pub(super) const ANTHROPIC_STRICT: Self = Self {
        strict_tools: Some(20),
        optional_properties: Some(24),
        unions: Some(16),
        ..Self::ANTHROPIC
    };

    /// Gemini's reference of `FunctionDeclaration` and `Tool`.
    pub(super) const GEMINI: Self = Self {
        tools: Some(512),
        name: Some(128),
        ..Self::NONE
    };

    /// Mistral's reference of `tools`: names up to 64 characters.
    pub(super) const MISTRAL: Self = Self {
        name: Some(64),
        ..Self::NONE
    };
}
