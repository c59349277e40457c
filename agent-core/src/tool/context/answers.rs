//! The answers that a tool finds when it runs again.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ToolContext;
use crate::answer::read;
use crate::tool::ToolError;

/// The answer to something that a call asked.
#[derive(Debug, Clone)]
pub(crate) struct CallAnswer {
    /// The id of the interrupt.
    pub(crate) id: String,
    /// Set if a run inside of the call asked: by which it is answered.
    pub(crate) nested: Option<String>,
    /// What the call named its question.
    pub(crate) name: Option<String>,
    pub(crate) value: Value,
}

impl CallAnswer {
    fn read<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        read(&self.id, &self.value).map_err(ToolError::failed)
    }
}

impl ToolContext {
    fn given(&self) -> &[CallAnswer] {
        self.call().map_or(&[], |call| &call.answers)
    }

    /// The answer to what this call asked, if it runs again because somebody answered: the last,
    /// if it asked several times. `None` if it runs for the first time.
    ///
    /// ```
    /// use agent_core::tool::{InterruptRequest, ToolOutcome};
    /// use agent_core::{ToolContext, ToolError, ToolOutput, tool};
    ///
    /// /// Deletes a file, if somebody says yes.
    /// #[tool]
    /// async fn delete(path: String, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
    ///     Ok(match context.answer::<bool>()? {
    ///         None => ToolOutcome::Interrupt(InterruptRequest::new(format!("Delete {path}?"))),
    ///         Some(true) => ToolOutcome::Done(ToolOutput::from_text("Deleted.")),
    ///         Some(false) => ToolOutcome::Done(ToolOutput::from_text("Kept.")),
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The answer is not the JSON of a `T`. A call that fails with this error, also inside of one
    /// of its own, has not happened: the run ends with
    /// [`CheckpointError::InvalidAnswer`](crate::graph::checkpoint::CheckpointError::InvalidAnswer),
    /// and takes another answer. The model hears nothing of it.
    pub fn answer<T: DeserializeOwned>(&self) -> Result<Option<T>, ToolError> {
        let mut own = self.given().iter().filter(|it| it.nested.is_none());
        own.next_back().map(CallAnswer::read).transpose()
    }

    /// The answer to the question of this [name](crate::tool::InterruptRequest::named), for a tool
    /// that asks several things one after another: it runs again with each answer, and finds those
    /// before.
    ///
    /// ```
    /// use agent_core::tool::{InterruptRequest, ToolOutcome};
    /// use agent_core::{ToolContext, ToolError, ToolOutput, tool};
    ///
    /// /// Books a table.
    /// #[tool]
    /// async fn book(context: &ToolContext) -> Result<ToolOutcome, ToolError> {
    ///     let ask = |name, text| Ok(ToolOutcome::Interrupt(InterruptRequest::named(name, text)));
    ///     let Some(guests) = context.answer_to::<u8>("guests")? else {
    ///         return ask("guests", "How many of you?");
    ///     };
    ///     let Some(hour) = context.answer_to::<u8>("hour")? else {
    ///         return ask("hour", "At what hour?");
    ///     };
    ///     let text = format!("A table for {guests} at {hour}.");
    ///     Ok(ToolOutcome::Done(ToolOutput::from_text(text)))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The answer is not the JSON of a `T`. A call that fails with this error, also inside of one
    /// of its own, has not happened: the run ends with
    /// [`CheckpointError::InvalidAnswer`](crate::graph::checkpoint::CheckpointError::InvalidAnswer),
    /// and takes another answer. The model hears nothing of it.
    pub fn answer_to<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ToolError> {
        let mut named = self
            .given()
            .iter()
            .filter(|answer| answer.nested.is_none() && answer.name.as_deref() == Some(name));
        named.next_back().map(CallAnswer::read).transpose()
    }

    /// The answers for the run inside of this call, by what they answer there.
    pub(crate) fn nested_answers(&self) -> impl Iterator<Item = (&str, &Value)> {
        let answers = self.given().iter();
        answers.filter_map(|answer| Some((answer.nested.as_deref()?, &answer.value)))
    }
}
