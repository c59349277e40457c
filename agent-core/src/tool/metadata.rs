//! How a tool wants to be run. Nothing of it reaches the model.

use std::time::Duration;

/// What running a tool twice would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the three effects are the whole scale"
)]
pub enum Effect {
    /// The tool only reads: it may run any number of times, also unasked.
    Pure,
    /// A second run with the same arguments changes nothing more.
    Idempotent,
    /// Each run counts; it is never run again on its own.
    #[default]
    Once,
}

/// How a tool wants to be run: const data, made by `#[tool]` or by hand.
///
/// ```
/// use agent_core::tool::{Effect, ToolMetadata};
///
/// const METADATA: ToolMetadata = ToolMetadata::new().return_direct(true).effect(Effect::Pure);
/// assert!(METADATA.is_return_direct());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ToolMetadata {
    return_direct: bool,
    timeout: Option<Duration>,
    effect: Effect,
    blocking: bool,
    max_parallel: Option<u32>,
    max_calls: Option<u32>,
    sequential: bool,
    approval: bool,
    resumes: bool,
    strict: bool,
    location: Option<(&'static str, u32)>,
}

impl ToolMetadata {
    /// Answers go back to the model, no time limit of its own, effect `once`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            return_direct: false,
            timeout: None,
            effect: Effect::Once,
            blocking: false,
            max_parallel: None,
            max_calls: None,
            sequential: false,
            approval: false,
            resumes: false,
            strict: false,
            location: None,
        }
    }

    /// Whether the result is the run's answer, without another model call.
    #[must_use]
    pub const fn return_direct(mut self, direct: bool) -> Self {
        self.return_direct = direct;
        self
    }

    /// The longest one call may take, the wait for a free slot included.
    #[must_use]
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// [`ToolMetadata::timeout`] in milliseconds, for generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn timeout_millis(self, limit: u64) -> Self {
        self.timeout(Duration::from_millis(limit))
    }

    /// How many calls of the tool run at once, over all runs of one agent; for a tool that one run
    /// brings, or that a resolver finds, over that run. A call that waits uses up its time. 0 is
    /// taken for 1. Default: as many as the agent runs.
    ///
    /// A call that runs the agent once more keeps its slot meanwhile: if that run calls the same
    /// tool and no slot is left, the tool waits for itself until its time is over.
    #[must_use]
    pub const fn max_parallel(mut self, limit: u32) -> Self {
        self.max_parallel = Some(if limit == 0 { 1 } else { limit });
        self
    }

    /// Most calls of the tool in a turn; an agent's limit holds as well. At least 1.
    #[must_use]
    pub const fn max_calls(mut self, limit: u32) -> Self {
        self.max_calls = Some(if limit == 0 { 1 } else { limit });
        self
    }

    /// Whether no other call of the turn may run at the same time: those before it end first,
    /// those after it start later.
    #[must_use]
    pub const fn sequential(mut self, sequential: bool) -> Self {
        self.sequential = sequential;
        self
    }

    /// Whether a person must approve each call before it runs.
    #[must_use]
    pub const fn approval(mut self, approval: bool) -> Self {
        self.approval = approval;
        self
    }

    /// Whether a call that was cut off goes on where it was, if it runs again.
    pub(crate) const fn resuming(mut self) -> Self {
        self.resumes = true;
        self
    }

    /// Whether the tool's schema was checked to be one that can be sent strict.
    #[must_use]
    pub const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// What running the tool twice would do.
    #[must_use]
    pub const fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Whether the tool is a plain `fn` that blocks its thread.
    #[must_use]
    pub const fn blocking(mut self, blocking: bool) -> Self {
        self.blocking = blocking;
        self
    }

    /// The source place of the tool, named when two tools clash.
    #[must_use]
    pub const fn located(mut self, file: &'static str, line: u32) -> Self {
        self.location = Some((file, line));
        self
    }

    /// Whether the result is the run's answer.
    #[must_use]
    pub const fn is_return_direct(&self) -> bool {
        self.return_direct
    }

    /// How many calls of the tool run at once, if it says so.
    #[must_use]
    pub const fn concurrency_limit(&self) -> Option<u32> {
        self.max_parallel
    }

    /// Most calls of the tool in a turn, if it says so itself.
    #[must_use]
    pub const fn call_limit(&self) -> Option<u32> {
        self.max_calls
    }

    /// Whether no other call of the turn may run at the same time.
    #[must_use]
    pub const fn is_sequential(&self) -> bool {
        self.sequential
    }

    /// Whether the tool's schema was checked to be one that can be sent strict.
    #[must_use]
    pub const fn is_strict(&self) -> bool {
        self.strict
    }

    /// Whether a person must approve each call before it runs.
    #[must_use]
    pub const fn needs_approval(&self) -> bool {
        self.approval
    }

    pub(crate) const fn is_resuming(&self) -> bool {
        self.resumes
    }

    /// The tool's own time limit.
    #[must_use]
    pub const fn time_limit(&self) -> Option<Duration> {
        self.timeout
    }

    /// What running the tool twice would do.
    #[must_use]
    pub const fn declared_effect(&self) -> Effect {
        self.effect
    }

    /// Whether the tool is a plain `fn`.
    #[must_use]
    pub const fn is_blocking(&self) -> bool {
        self.blocking
    }

    /// File and line of the tool.
    #[must_use]
    pub const fn location(&self) -> Option<(&'static str, u32)> {
        self.location
    }
}
