//! Runs one tool call.
//!
//! [`call`] is the only place a tool is called. [`execute`] bounds what leads to it: time
//! limit, cancellation and panics are handled there, in that order of precedence.
//!
//! Not here: which tools there are (`tool::set`), how many run at once (`agent::tool_node`).

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::{Instant, sleep_until};

use super::{ToolCallback, ToolContext, ToolError, ToolOutcome};
use crate::{cancelled, panics};

/// Until when a call may run.
#[derive(Clone, Copy)]
pub(crate) struct TimeLimit {
    pub(crate) deadline: Instant,
    pub(crate) whose: Whose,
}

/// Whose limit is the smallest, for the text of the error.
#[derive(Clone, Copy)]
pub(crate) enum Whose {
    Tool(Duration),
    Agent(Duration),
    Run,
}

impl TimeLimit {
    /// The call's time is over; `began` says whether it ran.
    pub(crate) fn error(self, began: bool) -> ToolError {
        match self.whose {
            Whose::Tool(limit) => ToolError::timed_out(limit),
            Whose::Agent(limit) => ToolError::timed_out_by_agent(limit),
            Whose::Run => ToolError::run_is_over(began),
        }
    }
}

/// Calls the tool with the JSON text of its arguments.
pub(crate) async fn call(
    tool: &Arc<dyn ToolCallback>,
    arguments: &str,
    context: &ToolContext,
) -> Result<ToolOutcome, ToolError> {
    tool.call(arguments, context).await
}

/// Runs a call as long as it has time.
///
/// An async tool that is over its time is dropped; a blocking one is told by its token, and
/// its late result is thrown away. Dropping the future does the same.
///
/// # Errors
///
/// What the tool returned, and timed out, cancelled and panicked.
pub(crate) async fn execute(
    call: impl Future<Output = Result<ToolOutcome, ToolError>>,
    context: &ToolContext,
    time: TimeLimit,
) -> Result<ToolOutcome, ToolError> {
    // The way here may have taken time, for example behind a slow reader of events.
    if Instant::now() >= time.deadline {
        return Err(time.error(false));
    }
    let mut call = Contained(Some(Box::pin(AssertUnwindSafe(call).catch_unwind())));
    // Stands after the call, so that it goes first: the tool's callbacks run while its future,
    // which holds their guards, is still there.
    let guard = EndEarly(Some(context));
    let token = context.cancellation();
    let result = tokio::select! {
        biased;
        () = cancelled::already(token) => return Err(ToolError::cancelled()),
        result = &mut call => result,
        // Many tools are done at once, and need nobody to watch these.
        () = token.cancelled() => return Err(ToolError::cancelled()),
        () = sleep_until(time.deadline) => return Err(time.error(true)),
    };
    match result {
        Ok(result) => {
            guard.defuse();
            context.end();
            result
        }
        Err(payload) => Err(panicked(payload)),
    }
}

fn panicked(payload: Box<dyn Any + Send>) -> ToolError {
    let error = ToolError::panicked(&*payload);
    panics::forget(payload);
    error
}

/// A call that may panic once more when it is dropped, also while others are.
struct Contained<F>(Option<Pin<Box<F>>>);

impl<F: Future> Future for Contained<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Some(call) => call.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for Contained<F> {
    fn drop(&mut self) {
        panics::let_go(self.0.take());
    }
}

/// Fires the call's token and callbacks unless the tool returned.
struct EndEarly<'a>(Option<&'a ToolContext>);

impl EndEarly<'_> {
    fn defuse(mut self) {
        self.0 = None;
    }
}

impl Drop for EndEarly<'_> {
    fn drop(&mut self) {
        if let Some(context) = self.0 {
            context.cancel();
        }
    }
}
