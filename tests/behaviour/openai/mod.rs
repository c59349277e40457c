//! The client for chat-completions endpoints, against a local server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod connection;
mod merge;
mod reasoning;
mod recordings;
mod request;
mod secrets;
mod tools;

use std::time::Duration;

use agent_core::model::openai::OpenAiBuilder;
use agent_core::model::{ChatModel as _, ModelDelta, ModelError, ModelErrorKind, OpenAi, Timeouts};
use agent_tests::replay::{Answer, ReplayServer};
use agent_tests::wire::{self, Outcome, request};
use futures_util::{FutureExt as _, StreamExt as _};

const HELLO: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}

"#;
const END: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"#;

fn client(server: &ReplayServer) -> OpenAiBuilder {
    OpenAi::builder().base_url(server.url()).model("m")
}

/// Asks a server that gives this one answer.
async fn ask(answer: Answer, is_stream: bool) -> Outcome {
    let server = ReplayServer::start([answer]).await;
    let model = client(&server).build().unwrap();
    wire::ask(&model, request(), is_stream).await
}

async fn stream(model: &OpenAi) -> Outcome {
    wire::ask(model, request(), true).await
}

fn waits(idle: Duration) -> Timeouts {
    Timeouts::new().idle(idle)
}

/// The error and everything a reporter would print with it.
fn printed(error: &ModelError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text += &format!(" {error} {error:?}");
        source = error.source();
    }
    text
}

#[test]
fn a_model_asked_outside_of_a_runtime_is_an_error() {
    let model = OpenAi::builder().base_url("http://127.0.0.1:1/v1");
    let model = model.model("m").build().unwrap();

    let reply = model.chat(request()).now_or_never().unwrap();

    let error = reply.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Configuration);
    assert_eq!(
        error.to_string(),
        "a model is asked outside of a tokio runtime"
    );
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = ReplayServer::start([Answer::events(HELLO).then_hang()]).await;
    let mut deltas = client(&server).build().unwrap().stream(request());
    let first = deltas.next().await.unwrap().unwrap();

    drop(deltas);

    server.closed().await;
    assert_eq!(first, ModelDelta::Text("Hello".to_owned()));
}

#[tokio::test]
async fn dropping_a_plain_call_closes_the_connection() {
    let server = ReplayServer::start([Answer::silence()]).await;
    let model = client(&server).build().unwrap();

    let call = tokio::spawn(model.chat(request()));
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    call.abort();

    server.closed().await;
}

// ex-40
#[tokio::test]
async fn a_stream_that_falls_silent_ends_with_an_error() {
    for text in ["", HELLO] {
        let server = ReplayServer::start([Answer::events(text).then_hang()]).await;
        let model = client(&server)
            .timeouts(waits(Duration::from_millis(50)))
            .build()
            .unwrap();

        let outcome = stream(&model).await;

        let error = outcome.result.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::StreamIdleTimeout);
        assert!(error.is_retryable());
        assert!(error.to_string().ends_with("for 50ms"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_a_timeout() {
    let server = ReplayServer::start([Answer::silence(), Answer::silence()]).await;
    let limit = Duration::from_millis(50);
    let head = client(&server)
        .timeouts(Timeouts::new().first_byte(limit))
        .build()
        .unwrap();
    let whole = client(&server)
        .timeouts(Timeouts::new().whole(limit))
        .build()
        .unwrap();

    assert_eq!(
        stream(&head).await.result.unwrap_err().kind(),
        ModelErrorKind::Timeout
    );
    assert_eq!(
        whole.chat(request()).await.unwrap_err().kind(),
        ModelErrorKind::Timeout
    );
}

#[tokio::test]
async fn a_whole_answer_counts_though_its_connection_hangs_or_breaks() {
    let end = &END[..END.find("data: [DONE]").unwrap()];
    let answer = Answer::events(format!("{HELLO}{end}"));
    let server = ReplayServer::start([answer.clone().then_hang(), answer.then_break()]).await;
    let model = client(&server)
        .timeouts(waits(Duration::from_millis(50)))
        .build()
        .unwrap();

    for _ in 0..2 {
        assert_eq!(stream(&model).await.result.unwrap().message.text, "Hello");
    }
}

// B13
#[tokio::test]
async fn a_connection_that_breaks_after_some_text_is_no_answer() {
    let outcome = ask(Answer::events(HELLO).then_break(), true).await;

    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Transport);
    assert!(error.is_retryable());
    assert_eq!(outcome.handed_out.text, "Hello");
}

#[tokio::test]
async fn a_refused_connection_names_the_server() {
    let server = ReplayServer::start([]).await;
    let url = server.url();
    drop(server);
    tokio::task::yield_now().await;
    let model = OpenAi::builder().base_url(&url).model("m").build().unwrap();

    let error = model.chat(request()).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Transport);
    assert_eq!(
        error.to_string(),
        format!("cannot connect: `{url}/chat/completions`")
    );
}

#[tokio::test]
async fn a_web_page_is_told_from_an_answer() {
    let page = "<html><head><title>Welcome</title></head><body>x</body></html>";
    for is_stream in [true, false] {
        let answer = Answer::status(200).header("content-type", "text/html; charset=utf-8");
        let error = ask(answer.piece(page), is_stream).await.result.unwrap_err();

        assert_eq!(error.kind(), ModelErrorKind::UnexpectedContentType);
        assert!(
            error.to_string().contains("the HTML page `Welcome`"),
            "{error}"
        );
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server =
        ReplayServer::start([Answer::status(307).header("location", "/v1/elsewhere")]).await;

    let error = client(&server)
        .build()
        .unwrap()
        .chat(request())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.status()),
        (ModelErrorKind::HttpStatus, Some(307))
    );
    assert_eq!(server.requests().len(), 1);
}

// ex-31
#[tokio::test]
async fn a_status_tells_whether_a_retry_may_help() {
    for (status, helps) in [
        (400, false),
        (401, false),
        (403, false),
        (404, false),
        (422, false),
        (408, true),
        (429, true),
        (500, true),
        (502, true),
        (503, true),
        (529, true),
    ] {
        let error = ask(Answer::status(status), false).await.result.unwrap_err();
        assert_eq!(
            (error.status(), error.is_retryable()),
            (Some(status), helps)
        );
        assert!(
            error.to_string().contains(&format!(" answered {status}")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_full_server_says_how_long_to_wait() {
    for (status, header, asked, told) in [
        (429, ("retry-after", "7"), 7_000, "7 s"),
        (503, ("retry-after-ms", "1500"), 1_500, "1.5 s"),
    ] {
        let answer = Answer::status(status).header(header.0, header.1);

        let error = ask(answer, true).await.result.unwrap_err();
        assert_eq!(error.retry_after(), Some(Duration::from_millis(asked)));
        let shown = error.to_string();
        let end = format!("; asked to wait {told}");
        assert!(shown.ends_with(&end), "{shown}");
        assert_eq!(shown.matches("asked to wait").count(), 1);
    }
}

#[tokio::test]
async fn a_spent_quota_is_not_worth_a_retry() {
    let answer =
        Answer::status(429).piece(r#"{"error":{"message":"Pay.","code":"insufficient_quota"}}"#);

    let error = ask(answer, false).await.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::RateLimited);
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let piece = vec![b' '; 1024 * 1024];
    let answer = (0..33).fold(Answer::json(""), |answer, _| answer.piece(piece.clone()));

    let error = ask(answer, false).await.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Decode);
}

// ex-38
#[tokio::test]
async fn a_megabyte_of_arguments_in_a_thousand_pieces_is_read() {
    let call = |id: &str, arguments: &str| {
        let function = serde_json::json!({"name": "save", "arguments": arguments});
        let calls = serde_json::json!([{"index": 0, "id": id, "function": function}]);
        format!(
            "data: {}\n\n",
            serde_json::json!({"choices": [{"delta": {"tool_calls": calls}}]})
        )
    };
    let piece = "a".repeat(1024);
    let mut answer = Answer::events(call("c1", "{\"content\":\""));
    for _ in 0..1024 {
        answer = answer.piece(call("", &piece));
    }
    answer = answer.piece(call("", "\"}")).piece(END);

    let response = ask(answer, true).await.result.unwrap();
    let arguments = response.message.tool_calls[0].arguments_value().unwrap();
    assert_eq!(arguments["content"].as_str().unwrap().len(), 1024 * 1024);
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let answers = (0..4).map(|_| Answer::events(format!("{HELLO}{END}")));
    let server = ReplayServer::start(answers).await;
    let model = client(&server).build().unwrap();

    for _ in 0..4 {
        stream(&model).await.result.unwrap();
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_request_lost_on_a_kept_connection_is_sent_once_more() {
    let answer = || Answer::events(format!("{HELLO}{END}"));
    let server = ReplayServer::start([answer(), Answer::gone(), answer()]).await;
    let model = client(&server).build().unwrap();

    for _ in 0..2 {
        assert_eq!(stream(&model).await.result.unwrap().message.text, "Hello");
    }
    let bodies = server.requests().into_iter().map(|request| request.body);
    let bodies: Vec<_> = bodies.collect();
    assert_eq!(bodies[1], bodies[2]);
    assert_eq!((bodies.len(), server.connections()), (3, 2));
}

#[tokio::test]
async fn a_request_is_not_sent_a_third_time() {
    let answer = Answer::events(format!("{HELLO}{END}"));
    let server = ReplayServer::start([answer, Answer::gone(), Answer::gone()]).await;
    let model = client(&server).build().unwrap();
    stream(&model).await.result.unwrap();

    let error = stream(&model).await.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Transport);
    assert!(error.is_retryable());
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_request_that_a_fresh_connection_loses_is_not_sent_again() {
    let server = ReplayServer::start([Answer::gone()]).await;

    let error = stream(&client(&server).build().unwrap()).await;
    let error = error.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Transport);
    assert_eq!(server.requests().len(), 1);
}
