//! Which provider wrote which reply of a run, and what another one may read of it.
//!
//! A run whose model was not there may have replies of several providers in its history. Reasoning
//! and signed parts mean nothing to another provider than theirs, and some refuse them.

use std::collections::HashMap;
use std::sync::Arc;

use super::scope::RunScope;
use crate::message::{Message, MessageBody, MessageId, Transcript};
use crate::model::{ChatModel, ChatRequest, ModelError, ModelErrorKind};

/// What a run knows of where its replies are from.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// The provider of the reply that came last, if it is not the agent's own.
    last: Option<Arc<str>>,
    /// Replies that are not of the agent's own provider.
    others: HashMap<MessageId, Arc<str>>,
}

impl Origins {
    /// The reply that came last is this message now.
    pub(super) fn settle(&mut self, message: &MessageId) {
        if let Some(provider) = self.last.take() {
            self.others.insert(message.clone(), provider);
        }
    }
}

/// Notes that this model gave the reply.
pub(super) fn answered(scope: &RunScope, model: &dyn ChatModel) {
    let own = scope.config.model.provider();
    let other = (model.provider() != own).then(|| Arc::from(model.provider()));
    scope.record(|record| record.origins.last = other);
}

/// The request without what this model's provider did not write and cannot read.
pub(super) fn readable(
    scope: &RunScope,
    model: &dyn ChatModel,
    request: ChatRequest,
) -> Result<ChatRequest, ModelError> {
    let (own, asked) = (scope.config.model.provider(), model.provider());
    let others = scope.record(|record| record.origins.others.clone());
    if others.is_empty() && own == asked {
        return Ok(request);
    }
    let messages = request.transcript().messages().iter();
    let messages = messages.map(|message| {
        let provider = others.get(message.id()).map_or(own, |other| other);
        match message.body() {
            MessageBody::Assistant(answer) if provider != asked => {
                let mut answer = answer.clone();
                answer.reasoning = None;
                answer.opaque.retain(|part| part.provider == asked);
                Message::with_id(message.id().clone(), MessageBody::Assistant(answer))
            }
            _ => message.clone(),
        }
    });
    let refused = |error| {
        let text = "the history cannot be sent to another provider";
        ModelError::new(ModelErrorKind::Configuration, text).with_source(error)
    };
    let transcript = Transcript::from_messages(messages).map_err(refused)?;
    request.with_transcript(transcript).map_err(refused)
}
