//! What `.tools(…)` takes.

use std::sync::Arc;

use super::{ToolCallback, ToolSet};

/// An object that brings tools, found by calling it.
///
/// `#[tool]` on an `impl` block writes it.
pub trait ToolProvider: Send + Sync + 'static {
    /// The tools; they may share the provider.
    fn callbacks(self: Arc<Self>) -> Vec<Arc<dyn ToolCallback>>;
}

/// Anything that is one or more tools.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tool nor a set of tools",
    label = "no tool",
    note = "pass `tools![a_function, another]`, a `ToolSet`, an `Arc<dyn ToolCallback>`, a value with a `#[tool] impl` block, an `Arc` of a `ToolProvider`, or a vector, array or option of these",
    note = "the function itself is no tool: `#[tool] fn f` is passed as `tools![f]`"
)]
pub trait IntoTools {
    /// The tools in their order.
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>>;
}

impl<T: ToolCallback + 'static> IntoTools for T {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        vec![Arc::new(self)]
    }
}

impl IntoTools for Arc<dyn ToolCallback> {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        vec![self]
    }
}

impl<P: ToolProvider> IntoTools for Arc<P> {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        self.callbacks()
    }
}

impl IntoTools for Arc<dyn ToolProvider> {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        self.callbacks()
    }
}

impl IntoTools for ToolSet {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        self.iter().cloned().collect()
    }
}

impl IntoTools for &ToolSet {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        self.iter().cloned().collect()
    }
}

impl<T: IntoTools> IntoTools for Vec<T> {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        self.into_iter().flat_map(T::into_tools).collect()
    }
}

impl<T: IntoTools, const N: usize> IntoTools for [T; N] {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        self.into_iter().flat_map(T::into_tools).collect()
    }
}

impl<T: IntoTools> IntoTools for Option<T> {
    fn into_tools(self) -> Vec<Arc<dyn ToolCallback>> {
        self.map(T::into_tools).unwrap_or_default()
    }
}
