//! How much a run may do, counted in one place.

use std::collections::HashMap;

use crate::event::Limit;

/// What happens when a limit is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnLimit {
    /// Every open call is answered and the run ends.
    #[default]
    Stop,
    /// The call over the limit is answered with an error, and the run goes on. A limit of
    /// model calls still ends the run.
    ErrorResult,
    /// The model answers once more, without tools and within its own limit; then the run ends.
    LastAnswer,
}

/// How much a run may do. The counts of tool calls are those of one turn, which is one run.
///
/// ```
/// use agent_core::agent::{Limits, OnLimit};
///
/// let limits = Limits::new().model_calls(10).on_limit(OnLimit::LastAnswer);
/// ```
#[derive(Debug, Clone)]
pub struct Limits {
    pub(super) model_calls: Option<u32>,
    pub(super) tool_calls: Option<u32>,
    pub(super) calls_per_tool: Option<u32>,
    pub(super) on_limit: OnLimit,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            model_calls: Some(50),
            tool_calls: Some(150),
            calls_per_tool: Some(40),
            on_limit: OnLimit::Stop,
        }
    }
}

impl Limits {
    /// 50 model calls, 150 tool calls, 40 calls of one tool; stop when one is reached.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No limit at all. The run can still be cancelled.
    #[must_use]
    pub fn unlimited() -> Self {
        Self {
            model_calls: None,
            tool_calls: None,
            calls_per_tool: None,
            on_limit: OnLimit::Stop,
        }
    }

    /// Most model calls of a run. Default: 50.
    #[must_use]
    pub fn model_calls(mut self, limit: u32) -> Self {
        self.model_calls = Some(limit);
        self
    }

    /// Most tool calls of a turn. Default: 150.
    #[must_use]
    pub fn tool_calls(mut self, limit: u32) -> Self {
        self.tool_calls = Some(limit);
        self
    }

    /// Most calls of one tool in a turn. Default: 40.
    #[must_use]
    pub fn calls_per_tool(mut self, limit: u32) -> Self {
        self.calls_per_tool = Some(limit);
        self
    }

    /// What happens when a limit is reached. Default: [`OnLimit::Stop`].
    #[must_use]
    pub fn on_limit(mut self, action: OnLimit) -> Self {
        self.on_limit = action;
        self
    }
}

/// What a run has done so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    model_calls: u32,
    tool_calls: u32,
    by_tool: HashMap<String, u32>,
}

impl Counts {
    /// Counts a model call. `Err` if it is one too many.
    pub(super) fn model_call(&mut self, limits: &Limits) -> Result<(), Limit> {
        if limits
            .model_calls
            .is_some_and(|limit| self.model_calls >= limit)
        {
            return Err(Limit::ModelCalls);
        }
        self.model_calls += 1;
        Ok(())
    }

    /// True if the model call that was just counted is the last one there may be.
    pub(super) fn is_last_model_call(&self, limits: &Limits) -> bool {
        limits
            .model_calls
            .is_some_and(|limit| self.model_calls >= limit)
    }

    /// Counts a tool call: the tool's own limit first, then the turn's.
    pub(super) fn tool_call(&mut self, name: &str, limits: &Limits) -> Result<(), Limit> {
        let of_tool = self.by_tool.entry(name.to_owned()).or_default();
        *of_tool = of_tool.saturating_add(1);
        self.tool_calls = self.tool_calls.saturating_add(1);
        if limits.calls_per_tool.is_some_and(|limit| *of_tool > limit) {
            return Err(Limit::ToolCallsOf(name.to_owned()));
        }
        if limits
            .tool_calls
            .is_some_and(|limit| self.tool_calls > limit)
        {
            return Err(Limit::ToolCalls);
        }
        Ok(())
    }
}
