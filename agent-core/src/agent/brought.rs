//! What hooks bring to an agent: their order, and what joins the agent's own parts.
//!
//! Not here: the tools of hooks, which are a layer of the agent's set (`agent::builder`).

use std::sync::Arc;

use super::error::BuildFault;
use super::hook::Hook;
use super::interceptor::{ModelInterceptor, ToolInterceptor};
use crate::state::KeyStrategy;

/// An agent's own parts, and behind them those of its hooks.
pub(super) struct Brought {
    pub(super) keys: Vec<(Arc<str>, KeyStrategy)>,
    pub(super) model_interceptors: Vec<Arc<dyn ModelInterceptor>>,
    pub(super) tool_interceptors: Vec<Arc<dyn ToolInterceptor>>,
}

impl Brought {
    /// Adds what the hooks bring, in their order.
    pub(super) fn by(&mut self, hooks: &[Arc<dyn Hook>]) {
        for hook in hooks {
            self.keys.extend(hook.keys());
            for interceptor in hook.model_interceptors() {
                add_model_interceptor(&mut self.model_interceptors, interceptor);
            }
            for interceptor in hook.tool_interceptors() {
                add_tool_interceptor(&mut self.tool_interceptors, interceptor);
            }
        }
    }
}

/// The hooks by their order, each name once, and a fault for each one too many.
pub(super) fn in_order(hooks: Vec<Arc<dyn Hook>>) -> (Vec<Arc<dyn Hook>>, Vec<BuildFault>) {
    let mut kept: Vec<Arc<dyn Hook>> = Vec::new();
    let mut faults = Vec::new();
    for hook in hooks {
        if kept.iter().any(|other| other.name() == hook.name()) {
            let name = hook.name().to_owned();
            faults.push(BuildFault::DuplicateHook { name });
        } else {
            kept.push(hook);
        }
    }
    kept.sort_by_key(|hook| hook.order());
    (kept, faults)
}

pub(super) fn add_model_interceptor(
    interceptors: &mut Vec<Arc<dyn ModelInterceptor>>,
    interceptor: Arc<dyn ModelInterceptor>,
) {
    let names = interceptors.iter().map(|other| other.name());
    if is_new(interceptor.name(), names) {
        interceptors.push(interceptor);
    }
}

pub(super) fn add_tool_interceptor(
    interceptors: &mut Vec<Arc<dyn ToolInterceptor>>,
    interceptor: Arc<dyn ToolInterceptor>,
) {
    let names = interceptors.iter().map(|other| other.name());
    if is_new(interceptor.name(), names) {
        interceptors.push(interceptor);
    }
}

fn is_new<'a>(name: &str, mut others: impl Iterator<Item = &'a str>) -> bool {
    let is_new = !others.any(|other| other == name);
    if !is_new {
        tracing::info!(
            name,
            "an interceptor of this name is there already; the first is kept"
        );
    }
    is_new
}
