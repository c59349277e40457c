//! Answers to interrupts.

use serde_json::Value;

use super::checkpoint::CheckpointError;
use crate::answer::AnswerError;

/// The answer to an interrupt, by its id.
///
/// ```
/// use agent_core::graph::Answer;
///
/// let answer = Answer::new("t1:ask:2:0", "yes");
/// assert_eq!(answer.id(), "t1:ask:2:0");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub(crate) id: String,
    pub(crate) value: Value,
}

impl Answer {
    /// An answer for whoever asked; see `serde_json::to_value` for one of a type of your own.
    pub fn new(id: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            id: id.into(),
            value: value.into(),
        }
    }

    /// The id of the interrupt that is answered.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is answered.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl From<AnswerError> for CheckpointError {
    fn from(error: AnswerError) -> Self {
        let (id, source) = error.into_parts();
        Self::InvalidAnswer { id, source }
    }
}
