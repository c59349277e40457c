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
}
