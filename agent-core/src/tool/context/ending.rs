//! How a call ends before its tool does, and what of it is left behind.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::ToolContext;
use crate::tool::ToolError;
use crate::tool::cancel::{CancelCallbacks, CancelGuard};
use crate::tool::place::{Leftovers, Place};

impl ToolContext {
    /// The call's token: a child of the run's, fired when the call times out and when the run is
    /// cancelled. A call and a run that end by themselves do not fire it.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        self.0
            .cancellation
            .get_or_init(|| self.0.turn.cancellation.child_token())
    }

    pub(in crate::tool) fn is_cancelled(&self) -> bool {
        let own = self.0.cancellation.get();
        own.unwrap_or(&self.0.turn.cancellation).is_cancelled()
    }

    /// An error if the call was cancelled; for blocking tools, between two steps.
    ///
    /// # Errors
    ///
    /// [`ToolError::cancelled`].
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.is_cancelled() {
            Err(ToolError::cancelled())
        } else {
            Ok(())
        }
    }

    /// Runs `f` once if the call is cancelled while the guard lives; at once if it was already.
    ///
    /// `f` runs on the thread that cancels: it must not block.
    pub fn on_cancel(&self, f: impl FnOnce() + Send + 'static) -> CancelGuard {
        self.callbacks().register(Box::new(f))
    }

    fn callbacks(&self) -> &Arc<CancelCallbacks> {
        self.0.callbacks.get_or_init(Arc::default)
    }

    pub(in crate::tool) fn place(&self) -> &Place {
        self.0.place.get_or_init(Place::default)
    }

    pub(in crate::tool) fn leftovers(&self) -> Leftovers {
        self.run().leftovers.clone()
    }

    /// True if the tool is a blocking one that never had a thread.
    pub(crate) fn never_ran(&self) -> bool {
        self.0.place.get().is_some_and(Place::is_given_up)
    }

    /// The call is over: what of it still runs is left behind.
    pub(crate) fn end(&self) {
        let place = self.0.place.get_or_init(Place::over);
        place.leave(&self.run().leftovers);
    }

    /// Ends the call early: fires its token and its callbacks.
    pub(crate) fn cancel(&self) {
        self.end();
        self.cancellation().cancel();
        self.callbacks().fire();
    }
}
