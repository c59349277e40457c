//! Runs a plain `fn` where it may block its thread.

use super::{ToolContext, ToolError, ToolOutcome};

/// Runs `f` on tokio's blocking pool, or in place if the agent was told so.
///
/// Dropping the future leaves a running `f` running: it can watch its context's cancellation
/// token, and a late result is thrown away. An `f` that still waits for a thread never runs.
///
/// # Errors
///
/// What `f` returns, [`ToolError::panicked`] if it panicked, [`ToolError::cancelled`] if the
/// runtime shut down before it started.
pub async fn run<F>(context: &ToolContext, f: F) -> Result<ToolOutcome, ToolError>
where
    F: FnOnce() -> Result<ToolOutcome, ToolError> + Send + 'static,
{
    if context.runs_blocking_in_place() {
        return f();
    }
    let span = tracing::Span::current();
    let (place, leftovers) = (context.place().clone(), context.leftovers());
    place.wait();
    let job = move || {
        // The pool may have been full, and the call may be over by now.
        let Some(_on_thread) = place.begin(leftovers) else {
            return Err(ToolError::cancelled());
        };
        span.in_scope(f)
    };
    match tokio::task::spawn_blocking(job).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => Err(ToolError::panicked(&*payload)),
            Err(_) => Err(ToolError::cancelled()),
        },
    }
}
