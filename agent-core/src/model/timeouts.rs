//! How long a model client waits, and for what.

use std::time::Duration;

/// How long a model client waits.
///
/// The defaults leave room for what is healthy: a model of OpenAI that reasons says nothing
/// [before its first word](https://github.com/mezmo/aura/issues/62) and
/// [between its words](https://github.com/2389-research/tracker/issues/577), and a local server reads a long
/// prompt, or loads its model, for minutes.
///
/// What takes longer is an error of kind [`Timeout`](super::ModelErrorKind::Timeout); silence in the
/// middle of an answer is [`StreamIdleTimeout`](super::ModelErrorKind::StreamIdleTimeout). Both may
/// pass if the request is sent again.
///
/// ```
/// use agent_core::model::Timeouts;
/// use std::time::Duration;
///
/// let timeouts = Timeouts::new().idle(Duration::from_secs(20));
/// assert_eq!(timeouts.whole, Duration::from_secs(600));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// For a connection, TLS included. Default: 10 seconds.
    pub connect: Duration,
    /// For the head of a streamed answer, after the request was made. A plain answer has no
    /// head before it is whole, so only `whole` bounds it. Default: 5 minutes.
    pub first_byte: Duration,
    /// Between two pieces of an answer. Default: 3 minutes.
    pub idle: Duration,
    /// For the whole call, from the request to the last byte. Default: 10 minutes.
    pub whole: Duration,
}

impl Timeouts {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(180),
            whole: Duration::from_secs(600),
        }
    }

    /// Sets how long a connection may take.
    #[must_use]
    pub fn connect(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets how long the head of a streamed answer may take.
    #[must_use]
    pub fn first_byte(mut self, limit: Duration) -> Self {
        self.first_byte = limit;
        self
    }

    /// Sets how long nothing may come in the middle of an answer.
    #[must_use]
    pub fn idle(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Sets how long the whole call may take.
    #[must_use]
    pub fn whole(mut self, limit: Duration) -> Self {
        self.whole = limit;
        self
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new()
    }
}
