//! Runs one tool call.
//!
//! [`call`] is the only place a tool is called. [`execute`] bounds what leads to it: time
//! limit, cancellation and panics are handled there, in that order of precedence.
//!
//! Not here: which tools there are (`tool::set`), how many run at once (`agent::tool_node`).

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{ToolCallback, ToolContext, ToolError, ToolOutcome};
use crate::boxed::BoxFuture;
use crate::panics;

/// A tool at work.
type Running<'a> = BoxFuture<'a, Result<ToolOutcome, ToolError>>;

/// What a call gave, or what it panicked with.
type Ended = std::thread::Result<Result<ToolOutcome, ToolError>>;

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
pub(crate) fn call<'a>(
    tool: &'a Arc<dyn ToolCallback>,
    arguments: &'a str,
    context: &'a ToolContext,
) -> Running<'a> {
    tool.call(arguments, context)
}

/// Runs a call as long as it has time. `begin` is called when it starts.
///
/// An async tool that is over its time is dropped; a blocking one is told by its token, and
/// its late result is thrown away. Dropping the future does the same.
///
/// # Errors
///
/// What the tool returned, and timed out, cancelled and panicked.
pub(crate) async fn execute<'a>(
    begin: impl FnOnce() -> Running<'a>,
    context: &ToolContext,
    time: &TimeLimit,
) -> Result<ToolOutcome, ToolError> {
    let mut call = Contained(None);
    // Stands after the call, so that it goes first: the tool's callbacks run while its future,
    // which holds their guards, is still there.
    let guard = EndEarly(Some(context));
    if context.is_cancelled() {
        return Err(ToolError::cancelled());
    }
    if let Err(payload) = call.begin(begin) {
        return Err(panicked(payload));
    }
    let ended = match poll_fn(|task| Poll::Ready(call.poll(task))).await {
        Poll::Ready(ended) => ended,
        // Boxed, as many tools are done at once, and need nobody to watch these.
        Poll::Pending => Box::pin(watched(&mut call, context, time)).await?,
    };
    match ended {
        Ok(result) => {
            guard.defuse();
            context.end();
            result
        }
        Err(payload) => Err(panicked(payload)),
    }
}

/// Waits for a call that was polled just now and is not done.
async fn watched(
    call: &mut Contained<'_>,
    context: &ToolContext,
    time: &TimeLimit,
) -> Result<Ended, ToolError> {
    let token = context.cancellation();
    let mut cancelled = pin!(token.cancelled());
    let mut over = pin!(sleep_until(time.deadline));
    let mut is_first = true;
    poll_fn(|task| {
        if !std::mem::take(&mut is_first) {
            if token.is_cancelled() {
                return Poll::Ready(Err(ToolError::cancelled()));
            }
            if let Poll::Ready(ended) = call.poll(task) {
                return Poll::Ready(Ok(ended));
            }
        }
        if cancelled.as_mut().poll(task).is_ready() {
            return Poll::Ready(Err(ToolError::cancelled()));
        }
        over.as_mut().poll(task).map(|()| Err(time.error(true)))
    })
    .await
}

fn panicked(payload: Box<dyn Any + Send>) -> ToolError {
    let error = ToolError::panicked(&*payload);
    panics::forget(payload);
    error
}

/// A call that may panic, once more when it is dropped, also while others are. `None` before it
/// has begun.
struct Contained<'a>(Option<Running<'a>>);

impl<'a> Contained<'a> {
    fn begin(&mut self, begin: impl FnOnce() -> Running<'a>) -> std::thread::Result<()> {
        let running = catch_unwind(AssertUnwindSafe(begin))?;
        self.0 = Some(running);
        Ok(())
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Ended> {
        let Some(call) = &mut self.0 else {
            return Poll::Pending;
        };
        match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(task))) {
            Ok(polled) => polled.map(Ok),
            Err(payload) => Poll::Ready(Err(payload)),
        }
    }
}

impl Drop for Contained<'_> {
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
