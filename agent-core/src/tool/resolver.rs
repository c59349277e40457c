//! Tools found by name at run time.

use std::sync::Arc;

use super::{ToolCallback, ToolSet};

/// Finds tools by their names that an agent was not given.
///
/// An agent asks none unless it is built with
/// [`resolver`](crate::agent::ReactAgentBuilder::resolver): a model must not reach what it
/// was not given. A [`ToolSet`] finds its own tools; a list asks one after another, and the
/// first that knows the name is right.
///
/// ```
/// use std::sync::Arc;
///
/// use agent_core::tool::{FunctionTool, ToolResolver};
/// use agent_core::{ToolCallback, ToolSet};
///
/// /// Makes a tool for every name that begins with `table_`.
/// struct Tables;
///
/// impl ToolResolver for Tables {
///     fn resolve(&self, name: &str) -> Option<Arc<dyn ToolCallback>> {
///         let table = name.strip_prefix("table_")?.to_owned();
///         Some(Arc::new(FunctionTool::new(name.to_owned(), "Reads a table.", move || {
///             let table = table.clone();
///             async move { format!("rows of {table}") }
///         })))
///     }
/// }
///
/// let now = ToolSet::new(FunctionTool::new("now", "The time.", async || "12:30"))?;
/// let both: Vec<Arc<dyn ToolResolver>> = vec![Arc::new(now), Arc::new(Tables)];
/// assert!(both.resolve("now").is_some());
/// assert!(both.resolve("table_users").is_some());
/// assert!(both.resolve("drop").is_none());
/// # Ok::<(), agent_core::tool::ToolSetError>(())
/// ```
pub trait ToolResolver: Send + Sync {
    /// The tool of this name, if there is one.
    ///
    /// It is called on the agent's own task and must not block. A run asks for a name until
    /// it was found once.
    fn resolve(&self, name: &str) -> Option<Arc<dyn ToolCallback>>;
}

impl ToolResolver for ToolSet {
    fn resolve(&self, name: &str) -> Option<Arc<dyn ToolCallback>> {
        self.get(name).cloned()
    }
}

impl<R: ToolResolver + ?Sized> ToolResolver for Arc<R> {
    fn resolve(&self, name: &str) -> Option<Arc<dyn ToolCallback>> {
        (**self).resolve(name)
    }
}

impl<R: ToolResolver> ToolResolver for Vec<R> {
    fn resolve(&self, name: &str) -> Option<Arc<dyn ToolCallback>> {
        self.iter().find_map(|resolver| resolver.resolve(name))
    }
}
