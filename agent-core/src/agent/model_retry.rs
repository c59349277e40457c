//! Asks the model again after it failed.

use std::time::Duration;

use tokio::time::Instant;

use super::interceptor::{ModelInterceptor, ModelNext};
use crate::backoff::{Backoff, backoff_setters};
use crate::boxed::BoxFuture;
use crate::clock;
use crate::model::{ChatRequest, ChatResponse, ModelError, ModelErrorKind};

/// Asks the model again when it failed in a way that may pass: a
/// [model interceptor](ModelInterceptor).
///
/// What is tried again is what [`ModelError::is_retryable`] says, such as the statuses 408, 409,
/// 429 and 5xx, a broken connection and a reply that was cut off. What was streamed of the reply
/// before does not count, which [`EventKind::Retried`](crate::event::EventKind::Retried) tells.
///
/// If the provider says how long to wait, no attempt begins earlier. A wait that would end after
/// the run's deadline, or is longer than [`max_wait`](Self::max_wait), is not begun: the error
/// is the run's. A run that is cancelled stops waiting at once.
///
/// Beside a [`ModelFallback`](super::ModelFallback) it stands behind it, so that each model is
/// tried again before the next one is asked.
///
/// ```
/// use agent_core::ReactAgent;
/// use agent_core::agent::ModelRetry;
/// use agent_core::model::{ModelError, ModelErrorKind, ScriptedModel, scripted::{fails, says}};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let busy = ModelError::new(ModelErrorKind::RateLimited, "too many requests");
/// let model = ScriptedModel::new([fails(busy), says("Hello.")]);
/// let agent = ReactAgent::builder("assistant", model)
///     .model_interceptor(ModelRetry::new().attempts(5).min_delay(Duration::from_secs(1)))
///     .build()?;
///
/// assert_eq!(agent.run("Hi").await?.text(), "Hello.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelRetry {
    backoff: Backoff,
    max_wait: Duration,
    attempt_timeout: Option<Duration>,
    budget: u32,
    when: fn(&ModelError) -> bool,
}

impl ModelRetry {
    /// Up to 3 attempts for each call of the model, with delays of 500 ms and more between them.
    pub fn new() -> Self {
        Self {
            backoff: Backoff {
                attempts: 3,
                min_delay: Duration::from_millis(500),
                max_delay: Duration::from_secs(30),
            },
            max_wait: Duration::from_secs(60),
            attempt_timeout: None,
            budget: 10,
            when: ModelError::is_retryable,
        }
    }

    backoff_setters!("the model is asked for one reply", "500 ms", "30 s");

    /// The longest wait that a provider may ask for; one that asks for more has failed for good.
    /// Default: 1 minute.
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// The longest one attempt may take; then it has failed with
    /// [`ModelErrorKind::Timeout`]. Default: what the client waits for.
    pub fn attempt_timeout(mut self, limit: Duration) -> Self {
        self.attempt_timeout = Some(limit);
        self
    }

    /// How many attempts beyond the first ones a whole run may make. One that is resumed, or a
    /// nested one, has as many of its own. Default: 10.
    pub fn budget(mut self, retries: u32) -> Self {
        self.budget = retries;
        self
    }

    /// Which errors are worth another attempt. Default: [`ModelError::is_retryable`].
    pub fn when(mut self, when: fn(&ModelError) -> bool) -> Self {
        self.when = when;
        self
    }

    async fn attempt(
        &self,
        request: ChatRequest,
        next: ModelNext<'_>,
    ) -> Result<ChatResponse, ModelError> {
        let Some(limit) = self.attempt_timeout else {
            return next.run(request).await;
        };
        let over = clock::after(Instant::now(), limit);
        match tokio::time::timeout_at(over, next.run(request)).await {
            Ok(reply) => reply,
            Err(_) => Err(ModelError::new(
                ModelErrorKind::Timeout,
                format!("the model gave no reply in {limit:?}"),
            )),
        }
    }

    /// How long to wait after this error; `None` if another attempt is not to be made.
    fn wait(&self, error: &ModelError, delay: Option<Duration>) -> Option<Duration> {
        let asked = error.retry_after().unwrap_or_default();
        let wait = delay?.max(asked);
        ((self.when)(error) && asked <= self.max_wait).then_some(wait)
    }
}

impl Default for ModelRetry {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelInterceptor for ModelRetry {
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            let mut delays = self.backoff.delays();
            loop {
                let error = match self.attempt(request.clone(), next).await {
                    Ok(response) => return Ok(response),
                    Err(error) => error,
                };
                let Some(wait) = self.wait(&error, delays.next()) else {
                    return Err(error);
                };
                let begins = clock::after(Instant::now(), wait);
                if next.is_overdue_at(begins) || !next.takes_retry(self.budget) {
                    return Err(error);
                }
                tracing::info!(?wait, %error, "asking the model again");
                tokio::time::sleep_until(begins).await;
            }
        })
    }
}
