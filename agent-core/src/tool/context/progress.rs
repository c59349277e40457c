//! How a tool tells how far it is.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::ToolContext;
use crate::boxed::BoxFuture;

/// Takes a tool's progress to the run's events; `None` if it went at once.
pub(crate) type Progress = Arc<dyn Fn(Value) -> Option<BoxFuture<'static, ()>> + Send + Sync>;

impl ToolContext {
    /// Reports progress as an event of the run.
    ///
    /// The value is queued at once if there is room; awaiting the result waits for room, so
    /// that a slow reader slows the tool. Without a reader, and after the call was cancelled,
    /// it does nothing.
    pub fn emit(&self, value: impl Into<Value>) -> Emit {
        let progress = self.call().and_then(|call| call.progress.as_ref());
        Emit {
            pending: progress
                .filter(|_| !self.is_cancelled())
                .and_then(|progress| progress(value.into())),
        }
    }
}

/// Progress on its way; await it to wait for a slow reader.
pub struct Emit {
    pending: Option<BoxFuture<'static, ()>>,
}

impl Future for Emit {
    type Output = ();

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        match &mut self.pending {
            Some(pending) => pending.as_mut().poll(cx),
            None => std::task::Poll::Ready(()),
        }
    }
}

impl fmt::Debug for Emit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Emit {{ pending: {} }}", self.pending.is_some())
    }
}
