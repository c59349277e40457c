//! The client for Messages endpoints, against a local server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer;
mod recordings;
mod request;

use agent_core::message::{AssistantMessage, OpaquePart, ToolCall};
use agent_core::model::anthropic::AnthropicBuilder;
use agent_core::model::{Anthropic, ModelErrorKind};
use agent_tests::replay::{Answer, ReplayServer};
use agent_tests::wire::{self, Outcome};

fn client(server: &ReplayServer) -> AnthropicBuilder {
    Anthropic::builder().base_url(server.url()).model("m")
}

/// Asks a server that gives this one answer.
async fn ask(answer: Answer, is_stream: bool) -> Outcome {
    let server = ReplayServer::start([answer]).await;
    let model = client(&server).build().unwrap();
    wire::ask(&model, wire::request(), is_stream).await
}

/// An answer that thought, spoke, thought again and called.
fn thoughtful() -> AssistantMessage {
    let part = |json: &str| OpaquePart::new("anthropic", json);
    let calls = vec![ToolCall::new("toolu_1", "weather", r#"{"city":"Oslo"}"#)];
    AssistantMessage::new("I look.", Some("Hm. Ah.".to_owned()), calls).with_opaque(vec![
        part(r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#),
        part(r#"{"type":"redacted_thinking","data":"ZGF0YQ=="}"#).after("I look.".len(), 0),
    ])
}

#[test]
fn a_client_is_set_up_and_prints_no_key() {
    let builder = || Anthropic::builder().model("m").api_key("sk-ant-secret");
    let model = builder().build().unwrap();

    assert_eq!(model.url(), "https://api.anthropic.com/v1/messages");
    assert!(!format!("{model:?} {:?}", builder()).contains("secret"));
    let model = builder().base_url("http://h.test/v1/").build().unwrap();
    assert_eq!(model.url(), "http://h.test/v1/messages");
    let error = Anthropic::builder().build().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Configuration);
}

#[tokio::test]
async fn a_request_carries_key_and_version() {
    let server = ReplayServer::start([Answer::json(r#"{"type":"message","content":[]}"#)]).await;
    let model = client(&server).api_key("sk-ant-secret").build().unwrap();

    let outcome = wire::ask(&model, wire::request(), false).await;

    assert!(outcome.result.is_ok());
    let request = server.requests().remove(0);
    assert_eq!(request.target, "POST /v1/messages");
    assert_eq!(request.header("x-api-key"), "sk-ant-secret");
    assert_eq!(request.header("anthropic-version"), "2023-06-01");
}

#[tokio::test]
async fn a_key_the_server_repeats_is_masked() {
    let body = r#"{"type":"error","error":{"type":"authentication_error","message":"bad key sk-ant-secret"}}"#;
    let answer = Answer::status(401)
        .header("content-type", "application/json")
        .piece(body);
    let server = ReplayServer::start([answer]).await;
    let model = client(&server).api_key("sk-ant-secret").build().unwrap();

    let outcome = wire::ask(&model, wire::request(), true).await;

    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Auth);
    assert_eq!(error.code(), Some("authentication_error"));
    assert!(!format!("{error} {error:?}").contains("sk-ant-secret"));
}
