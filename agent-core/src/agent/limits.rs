//! How much a run may do.
//!
//! Not here: the counting (`agent::counts`).

use std::collections::HashMap;

/// What happens when a limit is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnLimit {
    /// Every open call is answered and the run ends.
    #[default]
    Stop,
    /// The call over the limit is answered with an error, and the run goes on. The limits of
    /// model calls, of errors in a row and of jumps still end the run.
    ErrorResult,
    /// The model answers once more, without tools and within its own limit; then the run ends.
    LastAnswer,
}

/// How much a run may do. The counts of tool calls are those of one turn: of this run, and of
/// the history it goes on from what comes after the last message of the user.
///
/// Every number may be `None`, which is no limit.
///
/// ```
/// use agent_core::agent::{Limits, OnLimit};
///
/// let limits = Limits::new()
///     .model_calls(10)
///     .calls_per_tool(None)
///     .calls_of("send_mail", 1)
///     .on_limit(OnLimit::LastAnswer);
/// ```
#[derive(Debug, Clone)]
pub struct Limits {
    pub(super) model_calls: Option<u32>,
    pub(super) tool_calls: Option<u32>,
    pub(super) calls_per_tool: Option<u32>,
    pub(super) by_tool: HashMap<String, Option<u32>>,
    pub(super) repeated_calls: Option<u32>,
    pub(super) errors_in_a_row: Option<u32>,
    pub(super) depth: Option<u32>,
    pub(super) jumps: Option<u32>,
    pub(super) on_limit: OnLimit,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            model_calls: Some(50),
            tool_calls: Some(150),
            calls_per_tool: Some(40),
            depth: Some(5),
            jumps: Some(50),
            ..Self::unlimited()
        }
    }
}

impl Limits {
    /// 50 model calls, 150 tool calls, 40 calls of one tool, runs nested 5 deep, 50 jumps of hooks
    /// between two model calls; stop when one is reached.
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
            by_tool: HashMap::new(),
            repeated_calls: None,
            errors_in_a_row: None,
            depth: None,
            jumps: None,
            on_limit: OnLimit::Stop,
        }
    }

    /// Most model calls of a run. Default: 50.
    #[must_use]
    pub fn model_calls(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.model_calls = limit.into();
        self
    }

    /// Most tool calls of a turn. Default: 150.
    #[must_use]
    pub fn tool_calls(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.tool_calls = limit.into();
        self
    }

    /// Most calls of one tool in a turn. Default: 40.
    #[must_use]
    pub fn calls_per_tool(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.calls_per_tool = limit.into();
        self
    }

    /// Most calls of the tool of this name in a turn, in place of
    /// [`calls_per_tool`](Self::calls_per_tool). With `None` the tool has no limit of its own;
    /// its calls still count for [`tool_calls`](Self::tool_calls).
    #[must_use]
    pub fn calls_of(mut self, tool: impl Into<String>, limit: impl Into<Option<u32>>) -> Self {
        self.by_tool.insert(tool.into(), limit.into());
        self
    }

    /// How often in a row one tool may be called with the same arguments and give the same
    /// result; the next such call reaches the limit. Default: `None`.
    ///
    /// A tool that is polled is not stopped as long as its result changes, or as other calls
    /// come between.
    #[must_use]
    pub fn repeated_calls(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.repeated_calls = limit.into();
        self
    }

    /// How many calls in a row may end with an error, over all turns. Default: `None`.
    #[must_use]
    pub fn errors_in_a_row(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.errors_in_a_row = limit.into();
        self
    }

    /// How many runs may go on inside one another, the outermost counted. A run that is too deep
    /// ends with this limit before its first model call. Default: 5.
    #[must_use]
    pub fn depth(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.depth = limit.into();
        self
    }

    /// How often hooks may [jump](super::Jump) to the model or the tools with no model call in
    /// between. The next such jump is not made and ends the run, whatever happens at other limits:
    /// its calls without a result are answered, the hooks after the agent run. Default: 50.
    #[must_use]
    pub fn jumps(mut self, limit: impl Into<Option<u32>>) -> Self {
        self.jumps = limit.into();
        self
    }

    /// What happens when a limit is reached. Default: [`OnLimit::Stop`].
    #[must_use]
    pub fn on_limit(mut self, action: OnLimit) -> Self {
        self.on_limit = action;
        self
    }

    pub(super) fn of_tool(&self, name: &str) -> Option<u32> {
        self.by_tool
            .get(name)
            .copied()
            .unwrap_or(self.calls_per_tool)
    }
}
