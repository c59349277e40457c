//! How often something is tried, and how long the waits between are.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

/// Each delay is twice the one before, up to the longest; all are lengthened at random by up to
/// as much again.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    /// The first try included.
    pub(crate) attempts: u32,
    pub(crate) min_delay: Duration,
    pub(crate) max_delay: Duration,
}

impl Backoff {
    /// The delays between the attempts.
    pub(crate) fn delays(&self) -> ExponentialBackoff {
        ExponentialBuilder::new()
            .with_min_delay(self.min_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.attempts.saturating_sub(1) as usize)
            .with_jitter()
            .build()
    }
}
