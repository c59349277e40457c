//! What the framework is told about a tool, and the model is not.

/// placeholder
#[derive(Debug, Clone, Default)]
pub struct ToolMetadata;

/// placeholder
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Effect {
    /// placeholder
    Once,
}
