//! Which tool a name leads to: when an agent is built, and when a model calls.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

use super::error::BuildFault;
use super::scope::RunScope;
use crate::panics;
use crate::registry::registered;
use crate::tool::{ToolCallback, ToolError, ToolResolver};

/// The tools of these names that the agent is to offer: those of the resolver, else those of
/// the registry.
pub(super) fn by_names(
    names: &[String],
    resolver: &[Arc<dyn ToolResolver>],
) -> (Vec<Arc<dyn ToolCallback>>, Vec<BuildFault>) {
    let mut tools = Vec::new();
    let mut faults = Vec::new();
    let linked = if names.is_empty() {
        Vec::new()
    } else {
        registered()
    };
    for name in names {
        if let Some(tool) = resolve(resolver, name) {
            tools.push(tool);
            continue;
        }
        let before = tools.len();
        let of_name = |tool: &&Arc<dyn ToolCallback>| tool.definition().name() == name;
        // Two of one name are both taken, so that the set tells their places.
        tools.extend(linked.iter().filter(of_name).cloned());
        if tools.len() == before {
            faults.push(BuildFault::NoSuchTool {
                setting: "tool_names",
                tool: name.clone(),
            });
        }
    }
    (tools, faults)
}

/// What the first resolver finds that knows the name. One that panics knows nothing.
fn resolve(resolvers: &[Arc<dyn ToolResolver>], name: &str) -> Option<Arc<dyn ToolCallback>> {
    let ask = |resolver: &Arc<dyn ToolResolver>| {
        panics::caught(|| resolver.resolve(name)).unwrap_or_else(|| {
            tracing::error!(tool = name, "a tool resolver panicked");
            None
        })
    };
    resolvers.iter().find_map(ask)
}

/// The tools that a run found by its resolver.
#[derive(Default)]
pub(super) struct Resolved(Mutex<Found>);

#[derive(Default)]
struct Found {
    /// By the names they were called by.
    tools: HashMap<String, Arc<dyn ToolCallback>>,
    /// By their own names, if they limit how many of their calls run at once.
    slots: HashMap<String, Arc<Semaphore>>,
}

impl Resolved {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tool(&self, called: &str) -> Option<Arc<dyn ToolCallback>> {
        self.found().tools.get(called).cloned()
    }

    fn slots(&self, tool: &str) -> Option<Arc<Semaphore>> {
        self.found().slots.get(tool).cloned()
    }

    /// Keeps what was found; the first of a name stays.
    fn keep(&self, called: &str, tool: Arc<dyn ToolCallback>) -> Arc<dyn ToolCallback> {
        let mut found = self.found();
        if let Some(limit) = tool.metadata().concurrency_limit() {
            let name = tool.definition().name().to_owned();
            let slots = || Arc::new(Semaphore::new(limit as usize));
            found.slots.entry(name).or_insert_with(slots);
        }
        Arc::clone(found.tools.entry(called.to_owned()).or_insert(tool))
    }
}

impl RunScope {
    /// The tool a model means by `name`: one that is offered, else one that the agent's
    /// resolver knows, if it has one.
    pub(super) fn find_tool(&self, name: &str) -> Result<Arc<dyn ToolCallback>, ToolError> {
        let unknown = match self.tools.find(name) {
            Ok(tool) => return Ok(Arc::clone(tool)),
            Err(unknown) => unknown,
        };
        if let Some(tool) = self.resolved.tool(name) {
            return Ok(tool);
        }
        match resolve(&self.config.resolvers, name) {
            Some(tool) => {
                tracing::info!(called = name, "a tool that is not offered was found");
                Ok(self.resolved.keep(name, tool))
            }
            None => Err(unknown),
        }
    }

    /// The own name of the tool that a call names, whatever the model put before it; that of an
    /// unknown tool as it is.
    pub(super) fn name_of<'a>(&self, called: &'a str) -> Cow<'a, str> {
        match self.find_tool(called) {
            Ok(tool) if tool.definition().name() != called => {
                tool.definition().name().to_owned().into()
            }
            _ => called.into(),
        }
    }

    /// The slots of a tool that limits how many of its calls run at once.
    pub(super) fn slots_of(&self, tool: &dyn ToolCallback) -> Option<Arc<Semaphore>> {
        tool.metadata().concurrency_limit()?;
        let name = tool.definition().name();
        let offered = self.tool_slots.get(name).cloned();
        offered.or_else(|| self.resolved.slots(name))
    }
}
