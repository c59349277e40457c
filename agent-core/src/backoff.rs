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

/// The setters of a type that has a `backoff`: what is tried, and the defaults of the delays.
macro_rules! backoff_setters {
    ($tried:literal, $min:literal, $max:literal) => {
        #[doc = concat!("How often ", $tried, " at most, the first time included. Default: 3.")]
        pub fn attempts(mut self, attempts: u32) -> Self {
            self.backoff.attempts = attempts;
            self
        }

        /// The delay before the second attempt; each further one is twice as long, and all are
        #[doc = concat!("lengthened at random by up to as much again. Default: ", $min, ".")]
        pub fn min_delay(mut self, delay: Duration) -> Self {
            self.backoff.min_delay = delay;
            self
        }

        #[doc = concat!("The longest delay before the random part. Default: ", $max, ".")]
        pub fn max_delay(mut self, delay: Duration) -> Self {
            self.backoff.max_delay = delay;
            self
        }
    };
}

pub(crate) use backoff_setters;
