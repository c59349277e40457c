//! What a model is told about a tool: its name, its description and its input.

use std::borrow::Cow;

use super::{HostType, InputSchema};

/// What a model is told about a tool: plain data, a constant for every `#[tool]`.
///
/// ```
/// use agent_core::ToolDefinition;
/// use agent_core::tool::InputSchema;
/// use serde_json::json;
///
/// let definition = ToolDefinition::new(
///     "now",
///     "The time.",
///     InputSchema::from_value(json!({"type": "object", "properties": {}})),
/// );
/// assert_eq!(definition.name(), "now");
/// ```
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    name: Cow<'static, str>,
    description: Cow<'static, str>,
    input: InputSchema,
    output: Option<InputSchema>,
}

impl ToolDefinition {
    /// A definition made at run time.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input: InputSchema,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input,
            output: None,
        }
    }

    /// A definition that can be a constant.
    #[must_use]
    pub const fn constant(
        name: &'static str,
        description: &'static str,
        input: InputSchema,
    ) -> Self {
        Self::constant_with_output(name, description, input, None)
    }

    /// [`ToolDefinition::constant`] with the schema of the output, for generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn constant_with_output(
        name: &'static str,
        description: &'static str,
        input: InputSchema,
        output: Option<InputSchema>,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            description: Cow::Borrowed(description),
            input,
            output,
        }
    }

    /// Adds the schema of the tool's output.
    #[must_use]
    pub fn with_output_schema(mut self, output: InputSchema) -> Self {
        self.output = Some(output);
        self
    }

    /// The same under another name.
    #[must_use]
    pub fn named(&self, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            ..self.clone()
        }
    }

    /// The same with another input.
    pub(crate) fn with_input(&self, input: InputSchema) -> Self {
        Self {
            input,
            ..self.clone()
        }
    }

    /// The name the model calls the tool by.
    #[must_use]
    pub const fn name(&self) -> &str {
        as_str(&self.name)
    }

    /// What the tool does, for the model.
    #[must_use]
    pub const fn description(&self) -> &str {
        as_str(&self.description)
    }

    /// The schema of the arguments object.
    #[must_use]
    pub const fn input_schema(&self) -> &InputSchema {
        &self.input
    }

    /// The schema of the output, if it is known.
    #[must_use]
    pub const fn output_schema(&self) -> Option<&InputSchema> {
        self.output.as_ref()
    }

    /// The types of the host values the tool takes as `Host<T>`.
    #[must_use]
    pub fn required_hosts(&self) -> Vec<HostType> {
        self.input.required_hosts()
    }
}

#[expect(
    clippy::ptr_arg,
    reason = "a `Cow` is turned into text by `Deref`, which is not const"
)]
const fn as_str<'a>(text: &'a Cow<'static, str>) -> &'a str {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => text.as_str(),
    }
}
