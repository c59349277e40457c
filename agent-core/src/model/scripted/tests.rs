use futures_util::StreamExt as _;
use serde_json::json;

use super::*;
use crate::Message;
use crate::message::Transcript;
use crate::model::delta::fold;
use crate::model::{FinishReason, Usage};

fn request() -> ChatRequest {
    ChatRequest::new(Transcript::from_messages([Message::user("Hi")]).unwrap()).unwrap()
}

fn turn() -> Turn {
    calls("get_weather", json!({"city": "Oslo"}))
        .and_calls("search", json!({"q": "snow"}))
        .with_id("call_1")
        .and_says("Let me look.")
        .reasons("They want weather.")
        .with_usage(Usage::new(7, 5))
}

#[tokio::test]
async fn stream_and_chat_give_the_same_reply() {
    let streamed = fold(ScriptedModel::new([turn()]).stream(request()));
    let plain = ScriptedModel::new([turn()]).chat(request());

    let plain = plain.await.unwrap();
    assert_eq!(streamed.await.unwrap(), plain);
    assert_eq!(plain.finish_reason, FinishReason::ToolCalls);
}

#[tokio::test]
async fn generated_ids_do_not_meet_given_ones() {
    let model = ScriptedModel::new([turn()]);

    let response = model.chat(request()).await.unwrap();
    let ids: Vec<&str> = response
        .message
        .tool_calls
        .iter()
        .map(|call| &*call.id)
        .collect();
    assert_eq!(ids, ["call_2", "call_1"]);
}

#[tokio::test]
async fn a_failed_turn_hands_out_its_text_but_no_call() {
    let error = ModelError::new(ModelErrorKind::Transport, "the connection broke");
    let model = ScriptedModel::new([fails(error)
        .and_says("So far")
        .and_calls("search", json!({}))]);

    let deltas: Vec<_> = model.stream(request()).collect().await;
    assert_eq!(deltas[0].as_ref().unwrap(), &ModelDelta::Text("So ".into()));
    assert!(
        !deltas
            .iter()
            .any(|delta| matches!(delta, Ok(ModelDelta::ToolCall(_))))
    );
    assert_eq!(
        deltas.last().unwrap().as_ref().unwrap_err().kind(),
        ModelErrorKind::Transport
    );
}

#[tokio::test]
async fn past_the_end_of_the_script_is_an_error() {
    let model = ScriptedModel::new([]);

    let error = model.clone().chat(request()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ScriptEnded);
    assert_eq!(model.requests().len(), 1);
}
