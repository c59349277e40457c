//! Tries a tool call again that failed, where this is safe.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::nested::Outer;
use crate::backoff::{Backoff, backoff_setters};
use crate::event::EventKind;
use crate::message::ToolCall;
use crate::tool::{
    Effect, ToolCallback, ToolContext, ToolError, ToolErrorKind, ToolOutcome, executor,
};

/// When a failed tool call is tried again.
///
/// Only tools that declare their effect as `pure` or `idempotent` are tried again, and only after
/// an error of kind [`Failed`](ToolErrorKind::Failed): what the model got wrong, a panic, and a
/// call that took too long stay as they are. All tries share the call's time limit, and one that
/// could only begin after it is not waited for.
///
/// ```
/// use agent_core::ReactAgent;
/// use agent_core::agent::ToolRetry;
/// use agent_core::model::{ScriptedModel, scripted::says};
/// use std::time::Duration;
///
/// let agent = ReactAgent::builder("assistant", ScriptedModel::new([says("Hello.")]))
///     .tool_retry(ToolRetry::new().attempts(4).min_delay(Duration::from_millis(50)))
///     .build()?;
/// # Ok::<(), agent_core::agent::BuildError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolRetry {
    backoff: Backoff,
    when: fn(&ToolError) -> bool,
}

impl ToolRetry {
    /// Up to 3 attempts, with delays of 200 ms and more between them.
    pub fn new() -> Self {
        Self {
            backoff: Backoff {
                attempts: 3,
                min_delay: Duration::from_millis(200),
                max_delay: Duration::from_secs(10),
            },
            when: |_| true,
        }
    }

    backoff_setters!("the tool runs", "200 ms", "10 s");

    /// Which failures are worth another attempt, for example by
    /// [`ToolError::downcast_ref`]. Default: all.
    pub fn when(mut self, when: fn(&ToolError) -> bool) -> Self {
        self.when = when;
        self
    }

    fn helps(&self, error: &ToolError) -> bool {
        // A person has to answer anew.
        let is_read = error.answer().is_none();
        error.kind() == ToolErrorKind::Failed && is_read && (self.when)(error)
    }
}

impl Default for ToolRetry {
    fn default() -> Self {
        Self::new()
    }
}

/// Calls the tool until it goes well or `retry` gives up.
pub(super) async fn call(
    retry: &ToolRetry,
    tool: &Arc<dyn ToolCallback>,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<ToolOutcome, ToolError> {
    let is_safe = tool.metadata().declared_effect() != Effect::Once;
    let mut delays = retry.backoff.delays();
    loop {
        let error = match executor::call(tool, &call.arguments, context).await {
            Err(error) if is_safe && retry.helps(&error) => error,
            end => return end,
        };
        let delay = delays.next();
        let in_time = |delay: &Duration| {
            let begins = Instant::now().checked_add(*delay);
            context
                .deadline()
                .is_none_or(|deadline| begins.is_some_and(|at| at < deadline))
        };
        let Some(delay) = delay.filter(in_time) else {
            return Err(error);
        };
        context.try_again();
        let attempt = context.attempt();
        let outer = Outer::of(context);
        let told: Arc<str> = Arc::from(context.secrets().mask(&error.model_text()));
        let records = |outer: &&Outer| outer.scope.config.record_content;
        let shown = outer.as_ref().filter(records).map(|_| &*told);
        tracing::info!(
            tool = context.tool_name(),
            attempt,
            ?delay,
            kind = ?error.kind(),
            error = shown,
            "trying the tool again"
        );
        if let Some(outer) = outer {
            let kind = EventKind::ToolRetried {
                call_id: call.id.to_string(),
                tool: context.tool_name().to_owned(),
                attempt,
                error: told,
            };
            outer.gate.send(kind).await;
        }
        tokio::time::sleep(delay).await;
    }
}
