//! Answers that are not what their reader asked for.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::boxed::{BoxError, causes};
use crate::secrets::Secrets;

/// An answer is not of the type that its reader asked for; the source says what was expected.
///
/// A node, a hook or a tool that hands it on by `?`, also inside of an error of its own, ends the
/// run with [`CheckpointError::InvalidAnswer`](crate::graph::checkpoint::CheckpointError): the step did not happen, and the thread takes
/// another answer to the same question.
#[derive(Debug, Clone)]
pub struct AnswerError {
    id: Arc<str>,
    source: Arc<dyn Error + Send + Sync>,
}

impl AnswerError {
    pub(crate) fn new(id: &str, source: impl Into<BoxError>) -> Self {
        Self {
            id: id.into(),
            source: Arc::from(source.into()),
        }
    }

    /// The id of the interrupt, and what is wrong.
    pub(crate) fn into_parts(self) -> (String, BoxError) {
        (self.id.to_string(), self.source.into())
    }

    /// The id of the interrupt.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The one among an error and its causes.
    pub(crate) fn within<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        causes(Some(error)).find_map(|error| error.downcast_ref())
    }

    /// The same for the question as it is known further out.
    pub(crate) fn with_id(self, id: &str) -> Self {
        let id = id.into();
        Self { id, ..self }
    }

    /// The same without secrets, which an answer may hold.
    pub(crate) fn masked(self, secrets: &Secrets) -> Self {
        match secrets.is_empty() {
            true => self,
            false => Self::new(&self.id, secrets.mask(&self.source.to_string())),
        }
    }
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the answer to interrupt `{}` does not fit", self.id)
    }
}

impl Error for AnswerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// Reads the answer to this interrupt.
pub(crate) fn read<T: DeserializeOwned>(id: &str, answer: &Value) -> Result<T, AnswerError> {
    T::deserialize(answer).map_err(|error| AnswerError::new(id, error))
}
