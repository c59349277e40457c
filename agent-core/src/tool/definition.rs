//! What a model is told about a tool.
/// placeholder
#[derive(Debug, Clone)]
pub struct ToolDefinition;
impl ToolDefinition {
    /// name
    #[must_use]
    pub fn name(&self) -> &str {
        ""
    }

    /// description
    #[must_use]
    pub fn description(&self) -> &str {
        ""
    }

    /// input schema
    #[must_use]
    pub fn input_schema(&self) -> &InputSchema {
        &InputSchema
    }
}
/// placeholder
#[derive(Debug, Clone)]
pub struct InputSchema;
impl InputSchema {
    /// text
    #[must_use]
    pub fn text(&self) -> &str {
        "{}"
    }
}
