//! What can go wrong in a tool call, with two texts: one for the operator, one for the model.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use crate::answer::AnswerError;
use crate::boxed::BoxError;
use crate::panics;
use crate::secrets::{self, Cause, Secrets};
use crate::state::StateError;

/// What kind of failure a [`ToolError`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// There is no tool of this name.
    Unknown,
    /// The arguments do not fit the tool's parameters.
    InvalidArguments,
    /// The tool says what the model can do differently.
    Correctable,
    /// The tool failed.
    Failed,
    /// The tool panicked.
    Panicked,
    /// The tool took too long.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// The run must end.
    Fatal,
}

/// Why a tool call gave no output.
///
/// [`Display`](fmt::Display) is for the operator and walks to its source by the error
/// chain; [`ToolError::model_text`] is made for the model: no source chain, no location.
///
/// ```
/// use agent_core::{ToolError, tool::ToolErrorKind};
///
/// let error = ToolError::correctable("no city `Osslo`; did you mean `Oslo`?");
/// assert_eq!(error.kind(), ToolErrorKind::Correctable);
/// assert_eq!(error.model_text(), "Error: no city `Osslo`; did you mean `Oslo`?");
/// ```
pub struct ToolError {
    kind: ToolErrorKind,
    text: String,
    source: Option<Box<Source>>,
}

/// The error of the tool itself.
struct Source {
    error: BoxError,
    /// Its causes, where what they say had to be masked.
    causes: Option<Box<Cause>>,
}

impl Source {
    fn of(error: BoxError) -> Option<Box<Self>> {
        let causes = Cause::of(error.source(), &Secrets::default());
        Some(Box::new(Self { error, causes }))
    }
}

impl ToolError {
    fn new(kind: ToolErrorKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            source: None,
        }
    }

    /// The model can do better: `text` tells it how.
    pub fn correctable(text: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::Correctable, told(text.into()))
    }

    /// The tool failed with this error; the model reads its `Display`, without its chain.
    pub fn failed(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self {
                kind: ToolErrorKind::Failed,
                text: display_or_type(&*error),
                source: Source::of(error),
            },
        }
    }

    /// The run must end with this error.
    pub fn fatal(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        Self {
            kind: ToolErrorKind::Fatal,
            text: display_or_type(&*error),
            source: Source::of(error),
        }
    }

    /// The arguments do not fit; `text` says which, what was expected and what came.
    pub fn invalid_arguments(text: impl Into<String>) -> Self {
        Self::new(ToolErrorKind::InvalidArguments, text)
    }

    /// There is no tool of this name; `available` are those there are.
    #[must_use]
    pub fn unknown<'a>(name: &str, available: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<String> = available
            .into_iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let there_are = if names.is_empty() {
            "there are no tools".to_owned()
        } else {
            format!("the tools are {}", names.join(", "))
        };
        // A model can write a name of any length.
        let shown: String = name.chars().take(64).collect();
        let more = if shown.len() < name.len() { "…" } else { "" };
        Self::new(
            ToolErrorKind::Unknown,
            format!("tool not available: `{shown}{more}`; {there_are}"),
        )
    }

    /// The call took longer than `limit`.
    #[must_use]
    pub fn timed_out(limit: Duration) -> Self {
        Self::new(
            ToolErrorKind::TimedOut,
            format!("timed out after {}", in_words(limit)),
        )
    }

    /// The call took longer than its agent gives any call.
    pub(crate) fn timed_out_by_agent(limit: Duration) -> Self {
        let limit = in_words(limit);
        Self::new(
            ToolErrorKind::TimedOut,
            format!("timed out after {limit}, the most that any tool call may take"),
        )
    }

    /// The time of the run that the call belongs to is over; `began` says whether the call ran.
    pub(crate) fn run_is_over(began: bool) -> Self {
        let what = if began { "timed out" } else { "not run" };
        Self::new(
            ToolErrorKind::TimedOut,
            format!("{what}: the time of the whole run is over"),
        )
    }

    /// The call was cancelled.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ToolErrorKind::Cancelled, "cancelled")
    }

    /// The tool panicked with this payload. The model is told that it did, not with what.
    #[must_use]
    pub fn panicked(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Self::new(
            ToolErrorKind::Panicked,
            format!("the tool panicked: {message}"),
        )
    }

    /// The same error with the secrets masked in what it and its causes say.
    pub(crate) fn masked(mut self, secrets: &Secrets) -> Self {
        if !secrets.is_empty() {
            self.text = secrets.mask(&self.text);
            if let Some(source) = &mut self.source
                && let Some(Some(causes)) =
                    panics::caught(|| Cause::of(source.error.source(), secrets))
            {
                source.causes = Some(causes);
            }
        }
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// The error a tool returned, if it is of type `E`.
    #[must_use]
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.source
            .as_deref()
            .and_then(|source| source.error.downcast_ref())
    }

    /// Set if the tool could not read the answer to what it asked.
    pub(crate) fn answer(&self) -> Option<&AnswerError> {
        AnswerError::within(&*self.source.as_deref()?.error)
    }

    /// The tool's own error, given up for the caller.
    #[must_use]
    pub fn into_source(self) -> Option<BoxError> {
        self.source.map(|source| source.error)
    }

    /// What the model reads: `Error: ` and one sentence, made without the source chain and
    /// without user and password of any URL in it.
    #[must_use]
    pub fn model_text(&self) -> String {
        match self.kind {
            ToolErrorKind::Panicked => "Error: the tool panicked".to_owned(),
            _ => format!("Error: {}", secrets::mask_user_info(&self.text)),
        }
    }
}

/// A tool that returns `Result<_, ToolError>` fails with these by `?`; any other error goes
/// through [`ToolError::failed`]. `ToolError` is an error itself, so that there can be no `From`
/// for all errors.
macro_rules! failed_from {
    ($($error:ty),*) => {$(
        impl From<$error> for ToolError {
            fn from(error: $error) -> Self {
                Self::failed(error)
            }
        }
    )*};
}

failed_from! { BoxError, StateError, serde_json::Error, std::io::Error }

/// Without the source, whose own `Debug` may hold what must not be shown.
impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("kind", &self.kind)
            .field("text", &secrets::mask_user_info(&self.text))
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&secrets::mask_user_info(&self.text))
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The text already is the `Display` of the error itself; its own causes come next.
        let source = self.source.as_deref()?;
        match &source.causes {
            Some(cause) => Some(&**cause),
            None => source.error.source(),
        }
    }
}

fn display_or_type(error: &(dyn std::error::Error + Send + Sync + 'static)) -> String {
    told(error.to_string())
}

fn told(text: String) -> String {
    if text.trim().is_empty() {
        "the tool failed without a message".to_owned()
    } else {
        text
    }
}

/// `100 ms`, `2 s`, `1.5 s`, `5 min`: the largest unit that needs no long fraction.
fn in_words(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    match milliseconds {
        0 => format!("{} µs", duration.as_micros()),
        _ if milliseconds.is_multiple_of(60_000) => format!("{} min", milliseconds / 60_000),
        _ if milliseconds.is_multiple_of(1000) => format!("{} s", milliseconds / 1000),
        _ if milliseconds > 1000 && milliseconds.is_multiple_of(100) => {
            format!("{:.1} s", duration.as_secs_f64())
        }
        _ => format!("{milliseconds} ms"),
    }
}
