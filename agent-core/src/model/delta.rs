//! The pieces of a reply, and their fold into a whole one. Pure.

use futures_util::StreamExt as _;

use super::{ChatResponse, FinishReason, ModelError, ModelErrorKind, Usage};
use crate::boxed::BoxStream;
use crate::message::{AssistantMessage, OpaquePart, ToolCall};

/// One piece of a model's reply.
///
/// A call is handed out whole, as [`ModelDelta::ToolCall`]; fragments before it are for
/// those who watch. The rules of a provider's stream live in its assembler.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ModelDelta {
    /// More visible text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A piece of a tool call that is still being written. For display, and for calls that may
    /// start early; the call is not final.
    ToolCallFragment {
        /// Position of the call in the reply, from 0.
        index: usize,
        /// The call's id, as far as it is known; else empty. One of more than 1024 bytes comes
        /// with the whole call only.
        id: String,
        /// The tool's name, as far as it is known; of more than 1024 bytes as the id.
        name: String,
        /// The piece of the arguments' text.
        arguments: String,
    },
    /// A whole tool call. None is handed out before the provider said that the reply is over.
    ToolCall(ToolCall),
    /// A part that only the provider understands.
    Opaque(OpaquePart),
    /// Token counts; later ones replace earlier ones.
    Usage(Usage),
    /// The end of the reply.
    Finished(FinishReason),
}

/// Folds deltas into a [`ChatResponse`].
#[derive(Debug, Default)]
pub struct Accumulator {
    message: AssistantMessage,
    usage: Option<Usage>,
    finish_reason: Option<FinishReason>,
}

impl Accumulator {
    /// An accumulator that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one delta in.
    pub fn push(&mut self, delta: ModelDelta) {
        match delta {
            ModelDelta::Text(text) => self.message.text.push_str(&text),
            ModelDelta::Reasoning(text) => self
                .message
                .reasoning
                .get_or_insert_default()
                .push_str(&text),
            ModelDelta::ToolCallFragment { .. } => {}
            ModelDelta::ToolCall(call) => {
                let calls = &mut self.message.tool_calls;
                // They are kept as long as the conversation, and mostly there is one.
                if calls.is_empty() {
                    calls.reserve_exact(1);
                }
                calls.push(call);
            }
            ModelDelta::Opaque(part) => self.message.opaque.push(part),
            ModelDelta::Usage(usage) => self.usage = Some(usage),
            ModelDelta::Finished(reason) => self.finish_reason = Some(reason),
        }
    }

    /// The reply as far as it came.
    #[must_use]
    pub fn message(&self) -> &AssistantMessage {
        &self.message
    }

    /// The whole reply.
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::StreamTruncated`] if no [`ModelDelta::Finished`] came.
    pub fn finish(mut self) -> Result<ChatResponse, ModelError> {
        let Some(finish_reason) = self.finish_reason else {
            return Err(ModelError::new(
                ModelErrorKind::StreamTruncated,
                "the reply ended before the model said it was over",
            ));
        };
        self.message.tool_calls.shrink_to_fit();
        Ok(ChatResponse::new(self.message, finish_reason, self.usage))
    }
}

pub(super) async fn fold(
    mut deltas: BoxStream<'static, Result<ModelDelta, ModelError>>,
) -> Result<ChatResponse, ModelError> {
    let mut accumulator = Accumulator::new();
    while let Some(delta) = deltas.next().await {
        accumulator.push(delta?);
        // A stream that is always ready must not keep its reader from anything else.
        tokio::task::coop::consume_budget().await;
    }
    accumulator.finish()
}
