//! What a tool is given beside the model's arguments.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// placeholder
#[derive(Clone, Default)]
pub struct ToolContext {
    cancellation: CancellationToken,
    hosts: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl ToolContext {
    /// placeholder
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// placeholder
    #[must_use]
    pub fn host_arc<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.hosts
            .get(&TypeId::of::<T>())
            .and_then(|host| Arc::clone(host).downcast().ok())
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext").finish_non_exhaustive()
    }
}

/// placeholder
#[derive(Debug)]
pub struct Host<T>(pub Arc<T>);
