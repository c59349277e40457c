//! Models for tests: what each answers, streamed and plain alike.

mod cassette;
mod function;
mod test_model;

use agent_core::Message;
use agent_core::message::Transcript;
use agent_core::model::{Accumulator, ChatModel, ChatRequest, ChatResponse, ModelError};
use futures_util::StreamExt as _;

/// A request of one message.
fn asked(text: &str) -> ChatRequest {
    request([Message::user(text)])
}

fn request(messages: impl IntoIterator<Item = Message>) -> ChatRequest {
    let transcript = Transcript::from_messages(messages).expect("a history");
    ChatRequest::new(transcript).expect("a closed history")
}

/// The fold of the model's stream.
async fn streamed(
    model: &(impl ChatModel + ?Sized),
    request: ChatRequest,
) -> Result<ChatResponse, ModelError> {
    let mut deltas = model.stream(request);
    let mut reply = Accumulator::new();
    while let Some(delta) = deltas.next().await {
        reply.push(delta?);
    }
    reply.finish()
}
