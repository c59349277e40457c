//! What can go wrong with a model, told apart by what happened.

use std::fmt;
use std::time::Duration;

use crate::boxed::BoxError;
use crate::secrets::{Secrets, masked};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The client is not set up: a variable, a key or a URL is missing or wrong.
    Configuration,
    /// The provider reported an error inside a reply.
    ProviderError,
    /// An HTTP status that says failure and nothing more exact.
    HttpStatus,
    /// Too many requests (429, or the provider's word for it).
    RateLimited,
    /// The key is missing, wrong or not allowed (401, 403).
    Auth,
    /// The provider refuses the request as it is (400, 404, 413, 422).
    InvalidRequest,
    /// The model broke its own tool-call form, and the provider said so.
    ToolGenerationFailed,
    /// The answer is of another type than asked for, for example an HTML page.
    UnexpectedContentType,
    /// The answer cannot be read.
    Decode,
    /// The stream ended before the reply did.
    StreamTruncated,
    /// Nothing came for longer than the idle limit.
    StreamIdleTimeout,
    /// Connecting, or the whole call, took too long.
    Timeout,
    /// The connection could not be made, or it broke.
    Transport,
    /// The reply holds nothing.
    EmptyResponse,
    /// A scripted model was asked more often than its script has turns.
    ScriptEnded,
    /// A cassette has no reply to this request.
    NoRecording,
    /// The process [forbids](super::forbid_requests) requests to real models.
    RequestsForbidden,
}

impl ModelErrorKind {
    /// The kind in one word, for spans and metrics.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::ProviderError => "provider_error",
            Self::HttpStatus => "http_status",
            Self::RateLimited => "rate_limited",
            Self::Auth => "auth",
            Self::InvalidRequest => "invalid_request",
            Self::ToolGenerationFailed => "tool_generation_failed",
            Self::UnexpectedContentType => "unexpected_content_type",
            Self::Decode => "decode",
            Self::StreamTruncated => "stream_truncated",
            Self::StreamIdleTimeout => "stream_idle_timeout",
            Self::Timeout => "timeout",
            Self::Transport => "transport",
            Self::EmptyResponse => "empty_response",
            Self::ScriptEnded => "script_ended",
            Self::NoRecording => "no_recording",
            Self::RequestsForbidden => "requests_forbidden",
        }
    }

    /// The kind of this word.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        let all = [
            Self::Configuration,
            Self::ProviderError,
            Self::HttpStatus,
            Self::RateLimited,
            Self::Auth,
            Self::InvalidRequest,
            Self::ToolGenerationFailed,
            Self::UnexpectedContentType,
            Self::Decode,
            Self::StreamTruncated,
            Self::StreamIdleTimeout,
            Self::Timeout,
            Self::Transport,
            Self::EmptyResponse,
            Self::ScriptEnded,
            Self::NoRecording,
            Self::RequestsForbidden,
        ];
        all.into_iter().find(|kind| kind.word() == word)
    }
}

/// Why a model gave no reply.
///
/// `Display` is for the operator, holds no key, and tells how long to wait, if the provider said
/// so. [`ModelError::is_retryable`] describes
/// the failure; whether a retry is allowed depends on what was already handed out.
#[derive(Debug)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    status: Option<u16>,
    code: Option<String>,
    retry_after: Option<Duration>,
    failed_generation: Option<String>,
    retryable: Option<bool>,
    source: Option<BoxError>,
}

impl ModelError {
    /// An error of this kind; `message` is for the operator.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            code: None,
            retry_after: None,
            failed_generation: None,
            retryable: None,
            source: None,
        }
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Adds the provider's own error code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Adds how long the provider asks to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Adds what the model wrote when it broke its tool-call form.
    #[must_use]
    pub fn with_failed_generation(mut self, text: impl Into<String>) -> Self {
        self.failed_generation = Some(text.into());
        self
    }

    /// Says whether the same request may succeed later, where the kind alone does not tell.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.retryable = Some(retryable);
        self
    }

    /// Adds the error underneath. It must hold no secret: reporters print the chain.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Masks what the server said, which may repeat the key it was given, and then shortens it.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(super) fn redacted(self, secrets: &Secrets) -> Self {
        let mut error = self.masked(secrets);
        error.message = printable(&error.message);
        error.code = error.code.as_deref().map(printable);
        error
    }

    /// The same error with the secrets masked in what it and its causes say.
    pub(crate) fn masked(mut self, secrets: &Secrets) -> Self {
        self.message = secrets.shown(&self.message);
        self.code = self.code.map(|code| secrets.shown(&code));
        self.failed_generation = self.failed_generation.map(|text| secrets.shown(&text));
        self.source = self.source.map(|source| masked(source, secrets));
        self
    }

    /// What is said beside what the other fields tell.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// What happened.
    #[must_use]
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// The HTTP status, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// The provider's own error code.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// How long the provider asks to wait before the next try.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// What the model wrote when it broke its tool-call form.
    #[must_use]
    pub fn failed_generation(&self) -> Option<&str> {
        self.failed_generation.as_deref()
    }

    /// True if the same request may succeed later without a change.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        if let Some(retryable) = self.retryable {
            return retryable;
        }
        match self.kind {
            ModelErrorKind::RateLimited
            | ModelErrorKind::StreamTruncated
            | ModelErrorKind::StreamIdleTimeout
            | ModelErrorKind::Timeout
            | ModelErrorKind::Transport
            | ModelErrorKind::EmptyResponse
            | ModelErrorKind::ToolGenerationFailed => true,
            ModelErrorKind::HttpStatus
            | ModelErrorKind::ProviderError
            | ModelErrorKind::UnexpectedContentType => self.status.is_some_and(Self::passes),
            _ => false,
        }
    }

    /// True for a status that tells of a failure that may pass.
    ///
    /// A conflict is a lock that another request holds, as the providers' clients say. 425 is too
    /// early, and by 498 Groq says that it has no room just now. 424 is a model that failed behind
    /// its server, 499 a request that another one cancelled on its way.
    /// <https://console.groq.com/docs/errors>,
    /// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html>,
    /// <https://cloud.google.com/apis/design/errors#handling_errors>
    pub(crate) fn passes(status: u16) -> bool {
        matches!(status, 408 | 409 | 424 | 425 | 498 | 499) || status >= 500
    }
}

/// Most characters of an error's message, of which most is what a server said.
const MAX_SHOWN: usize = 600;

/// The text in one line, not too long, and without what would steer a terminal.
#[cfg_attr(
    not(feature = "openai"),
    allow(dead_code, reason = "only clients need it")
)]
fn printable(text: &str) -> String {
    let plain = |character: char| match character {
        character if character.is_control() => ' ',
        character => character,
    };
    let mut shown: String = text.chars().take(MAX_SHOWN).map(plain).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let Some(wait) = self.retry_after else {
            return Ok(());
        };
        let seconds = (wait.as_secs_f64() * 1000.0).round() / 1000.0;
        write!(f, "; asked to wait {seconds} s")
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
