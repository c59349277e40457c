//! Where tools run, and how many calls of one tool at once.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::tool::{ToolError, ToolOutcome, ToolSet};

/// The slots of the tools that limit how many of their calls run at once.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolSlots(Arc<HashMap<String, Arc<Semaphore>>>);

impl ToolSlots {
    /// Slots for these tools; those that `earlier` has are shared with it.
    pub(super) fn of(tools: &ToolSet, earlier: &Self) -> Self {
        let limited = tools.iter().filter_map(|tool| {
            let limit = tool.metadata().concurrency_limit()?;
            let name = tool.definition().name();
            let slots = earlier.get(name).cloned();
            let slots = slots.unwrap_or_else(|| Arc::new(Semaphore::new(limit as usize)));
            Some((name.to_owned(), slots))
        });
        Self(Arc::new(limited.collect()))
    }

    pub(super) fn get(&self, tool: &str) -> Option<&Arc<Semaphore>> {
        self.0.get(tool)
    }
}

/// Runs a call on another runtime. Dropping the future drops the call there, at its next await.
pub(super) async fn on(
    runtime: Handle,
    call: impl Future<Output = Result<ToolOutcome, ToolError>> + Send + 'static,
) -> Result<ToolOutcome, ToolError> {
    let task = Spawned::new(&runtime, call.in_current_span());
    task.end().await?
}

/// A task that ends with its owner.
#[derive(Debug)]
pub(super) struct Spawned<T>(JoinHandle<T>);

impl<T: Send + 'static> Spawned<T> {
    pub(super) fn new(runtime: &Handle, task: impl Future<Output = T> + Send + 'static) -> Self {
        Self(runtime.spawn(task))
    }

    /// What the task gave; an error if its runtime has shut down. A panic of the task goes on here.
    pub(super) async fn end(mut self) -> Result<T, ToolError> {
        let error = match (&mut self.0).await {
            Ok(end) => return Ok(end),
            Err(error) => error,
        };
        match error.try_into_panic() {
            Ok(payload) => std::panic::resume_unwind(payload),
            Err(_) => Err(ToolError::failed(
                "the runtime that the tool was to run on has shut down",
            )),
        }
    }
}

impl<T> Drop for Spawned<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
