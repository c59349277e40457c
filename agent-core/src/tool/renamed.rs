//! Sets made of sets: a prefix, another name, a choice.

use std::sync::Arc;

use super::set::is_valid_name;
use super::{ToolCallback, ToolContext, ToolDefinition, ToolError, ToolMetadata, ToolOutcome};
use super::{ToolSet, ToolSetError};
use crate::boxed::BoxFuture;

impl ToolSet {
    /// The same tools with `prefix` before each name, so that sets of two origins can be
    /// one.
    ///
    /// ```
    /// use agent_core::{ToolSet, tool, tools};
    ///
    /// #[tool]
    /// async fn search(words: String) -> String {
    ///     words
    /// }
    ///
    /// let set = ToolSet::new(tools![search])?.prefix("wiki_")?;
    /// assert_eq!(set.names().collect::<Vec<_>>(), ["wiki_search"]);
    /// # Ok::<(), agent_core::tool::ToolSetError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ToolSetError::InvalidRename`] if a name is longer than 64 bytes then, or not what
    /// every provider takes.
    pub fn prefix(&self, prefix: &str) -> Result<Self, ToolSetError> {
        let renamed = |tool: &Arc<dyn ToolCallback>| {
            let name = format!("{prefix}{}", tool.definition().name());
            renamed(tool, name)
        };
        Self::new(self.iter().map(renamed).collect::<Result<Vec<_>, _>>()?)
    }

    /// The same tools, of which one has another name.
    ///
    /// # Errors
    ///
    /// [`ToolSetError::NoSuchTool`] if none is named `from`,
    /// [`ToolSetError::InvalidRename`] if `to` is no name, [`ToolSetError::Duplicate`] if
    /// another tool has it.
    pub fn rename(&self, from: &str, to: impl Into<String>) -> Result<Self, ToolSetError> {
        let Some(position) = self
            .iter()
            .position(|tool| tool.definition().name() == from)
        else {
            return Err(ToolSetError::NoSuchTool {
                name: from.to_owned(),
                available: self.names().map(str::to_owned).collect(),
            });
        };
        let mut tools: Vec<_> = self.iter().cloned().collect();
        tools[position] = renamed(&tools[position], to.into())?;
        Self::new(tools)
    }

    /// Those of the tools for which `keep` is true.
    ///
    /// ```
    /// use agent_core::tool::Effect;
    /// use agent_core::{ToolSet, tool, tools};
    ///
    /// #[tool(effect = "pure")]
    /// async fn read() {}
    ///
    /// #[tool]
    /// async fn write() {}
    ///
    /// let all = ToolSet::new(tools![read, write])?;
    /// let safe = all.filter(|tool| tool.metadata().declared_effect() == Effect::Pure);
    /// assert_eq!(safe.names().collect::<Vec<_>>(), ["read"]);
    /// # Ok::<(), agent_core::tool::ToolSetError>(())
    /// ```
    #[must_use]
    pub fn filter(&self, mut keep: impl FnMut(&Arc<dyn ToolCallback>) -> bool) -> Self {
        let kept = self.iter().filter(|tool| keep(tool)).cloned();
        Self::of_unique(kept.collect())
    }
}

fn renamed(
    tool: &Arc<dyn ToolCallback>,
    name: String,
) -> Result<Arc<dyn ToolCallback>, ToolSetError> {
    if !is_valid_name(&name) {
        return Err(ToolSetError::InvalidRename {
            from: tool.definition().name().to_owned(),
            to: name,
        });
    }
    Ok(Arc::new(Renamed {
        definition: tool.definition().named(name),
        tool: Arc::clone(tool),
    }))
}

/// A tool under another name.
struct Renamed {
    definition: ToolDefinition,
    tool: Arc<dyn ToolCallback>,
}

impl ToolCallback for Renamed {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        self.tool.metadata()
    }

    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        self.tool.call(arguments, context)
    }
}
