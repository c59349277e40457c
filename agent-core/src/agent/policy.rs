//! Which way a tool's error goes: to the model, to the caller, or out of the run.

use std::fmt;
use std::sync::Arc;

use crate::boxed::BoxError;
use crate::message::ToolCall;
use crate::panics;
use crate::tool::{ToolError, ToolErrorKind};

/// What becomes of a tool's error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorAction {
    /// The model reads this text, and the run goes on.
    Tell(String),
    /// The run ends with the error.
    Raise,
}

type Decide = dyn Fn(&ToolError, &ToolCall) -> ErrorAction + Send + Sync;
type Matches = fn(&ToolError) -> bool;

/// Decides which way a tool's error goes.
///
/// By default a fatal error ends the run and the model reads every other.
///
/// ```
/// use agent_core::agent::{ErrorAction, ErrorPolicy};
///
/// let policy = ErrorPolicy::new().pass_through::<std::io::Error>();
/// let strict = ErrorPolicy::custom(|_error, _call| ErrorAction::Raise);
/// ```
#[derive(Clone, Default)]
pub struct ErrorPolicy {
    decide: Option<Arc<Decide>>,
    pass_through: Vec<Matches>,
}

impl ErrorPolicy {
    /// The default policy.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A policy of your own. Where it panics, the run ends with the error.
    pub fn custom(
        decide: impl Fn(&ToolError, &ToolCall) -> ErrorAction + Send + Sync + 'static,
    ) -> Self {
        Self {
            decide: Some(Arc::new(decide)),
            pass_through: Vec::new(),
        }
    }

    /// Ends the run with errors of this type, handed to the caller as they are.
    #[must_use]
    pub fn pass_through<E: std::error::Error + 'static>(mut self) -> Self {
        self.pass_through
            .push(|error| error.downcast_ref::<E>().is_some());
        self
    }

    pub(super) fn apply(&self, error: ToolError, call: &ToolCall) -> Decision {
        if self.pass_through.iter().any(|matches| matches(&error)) {
            return match error.into_source() {
                Some(source) => Decision::PassThrough(source),
                None => Decision::Tell(String::new()),
            };
        }
        let action = match &self.decide {
            // Nobody knows what it would have said of a call that may matter.
            Some(decide) => panics::caught(|| decide(&error, call)).unwrap_or_else(|| {
                tracing::error!(tool = call.name(), "an error policy panicked");
                ErrorAction::Raise
            }),
            None if error.kind() == ToolErrorKind::Fatal => ErrorAction::Raise,
            None => ErrorAction::Tell(error.model_text()),
        };
        match action {
            ErrorAction::Tell(text) => {
                panics::let_go(error);
                Decision::Tell(text)
            }
            ErrorAction::Raise => Decision::Raise(error),
        }
    }
}

impl fmt::Debug for ErrorPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorPolicy")
            .field("custom", &self.decide.is_some())
            .field("pass_through", &self.pass_through.len())
            .finish()
    }
}

/// What the policy decided, with the error where it is needed.
pub(super) enum Decision {
    Tell(String),
    Raise(ToolError),
    PassThrough(BoxError),
}
