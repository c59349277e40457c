//! What a node is given beside the state.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

/// Values of one run by their type, which the graph hands to its nodes unseen.
///
/// ```
/// use agent_core::graph::Extensions;
///
/// let mut extensions = Extensions::new();
/// extensions.insert(String::from("tenant 7"));
/// assert_eq!(extensions.get::<String>().map(String::as_str), Some("tenant 7"));
/// assert!(extensions.get::<u8>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct Extensions {
    values: HashMap<TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>,
}

impl Extensions {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value; one of the same type that was there is replaced.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let entry = (type_name::<T>(), Arc::new(value) as _);
        self.values.insert(TypeId::of::<T>(), entry);
    }

    /// The value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let (_, value) = self.values.get(&TypeId::of::<T>())?;
        value.downcast_ref()
    }

    /// The value of this type, shared.
    #[must_use]
    pub fn get_shared<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let (_, value) = self.values.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.values.values().map(|(name, _)| *name).collect();
        names.sort_unstable();
        f.debug_list().entries(names).finish()
    }
}

/// What a node is given beside the state. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct NodeContext {
    node: Arc<str>,
    step: u64,
    cancellation: CancellationToken,
    extensions: Arc<Extensions>,
}

impl NodeContext {
    /// A context to call a node by hand with, for example in a test: the first step of a run
    /// without extensions that nobody cancels.
    pub fn new(node: impl Into<Arc<str>>) -> Self {
        Self::of_run(node.into(), 1, CancellationToken::new(), Arc::default())
    }

    pub(super) fn of_run(
        node: Arc<str>,
        step: u64,
        cancellation: CancellationToken,
        extensions: Arc<Extensions>,
    ) -> Self {
        Self {
            node,
            step,
            cancellation,
            extensions,
        }
    }

    /// The same context with one more extension.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        Arc::make_mut(&mut self.extensions).insert(value);
        self
    }

    /// The name of the node.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Which step of the run this is; the first node that runs is step 1.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Fires when the run is cancelled.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// The values the run was given for its nodes.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}
