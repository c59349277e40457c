//! Runs a plain `fn` where it may block its thread.

use tokio::task::JoinHandle;

use super::{ToolContext, ToolError, ToolOutcome};
use crate::panics;

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
    let (waiting, leftovers) = (context.place().wait(), context.leftovers());
    let job = move || {
        // The pool may have been full, and the call may be over by now.
        let Some(_on_thread) = waiting.begin(leftovers) else {
            return Err(ToolError::cancelled());
        };
        span.in_scope(f)
    };
    let mut job = Job(tokio::task::spawn_blocking(job));
    match (&mut job.0).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(payload) => {
                let error = ToolError::panicked(&*payload);
                panics::forget(payload);
                Err(error)
            }
            Err(_) => Err(ToolError::cancelled()),
        },
    }
}

/// A job that does not begin any more once its owner is gone.
struct Job<T>(JoinHandle<T>);

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        // One that has its thread goes on.
        self.0.abort();
    }
}
