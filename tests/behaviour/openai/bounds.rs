//! What the client does with answers that are too long, too late, or sent from another
//! runtime.

use futures_util::StreamExt as _;
use std::time::Duration;

use agent_core::model::{ChatModel as _, ModelErrorKind, Timeouts};
use agent_tests::replay::{Answer, ReplayServer};

use super::{END, HELLO, ask, client, request, stream, waits};

#[tokio::test]
async fn a_stream_without_end_is_given_up() {
    let piece = format!(": {}\n", "x".repeat(1024 * 1024));
    let answer = (0..33).fold(Answer::events(HELLO), |answer, _| {
        answer.piece(piece.clone())
    });

    let outcome = ask(answer, true).await;

    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Decode);
    assert!(error.to_string().contains("is larger than"), "{error}");
    assert_eq!(outcome.handed_out.text, "Hello");
}

#[tokio::test]
async fn a_whole_answer_is_not_held_back_by_a_server_that_never_ends_the_stream() {
    let end = &END[..END.find("data: [DONE]").unwrap()];
    let server = ReplayServer::start([Answer::events(format!("{HELLO}{end}")).then_hang()]).await;
    let model = client(&server).build().unwrap();

    let outcome = tokio::time::timeout(Duration::from_secs(20), stream(&model)).await;

    assert_eq!(outcome.unwrap().result.unwrap().message.text, "Hello");
}

#[tokio::test(start_paused = true)]
async fn a_reason_beside_the_first_words_is_not_taken_for_the_end() {
    let piece = r#"data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let server = ReplayServer::start([Answer::events(format!("{piece}\n\n")).then_hang()]).await;
    let silence = Duration::from_secs(30);
    let model = client(&server).timeouts(waits(silence)).build().unwrap();
    let begun = tokio::time::Instant::now();

    let outcome = stream(&model).await;

    assert_eq!(outcome.result.unwrap().message.text, "Hello");
    assert!(begun.elapsed() >= silence, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_error_is_told_though_its_body_never_ends() {
    let said = r#"{"error":{"message":"Overloaded."#;
    let server = ReplayServer::start([Answer::status(503).piece(said).then_hang()]).await;
    let model = client(&server).build().unwrap();

    let error = tokio::time::timeout(Duration::from_secs(20), model.chat(request())).await;

    let error = error.unwrap().unwrap_err();
    assert_eq!(error.status(), Some(503));
    assert!(error.to_string().contains("Overloaded."), "{error}");
}

#[tokio::test]
async fn a_null_event_is_passed_over() {
    let answer = Answer::events(format!("data: null\n\n{HELLO}data: null\n\n{END}"));

    assert_eq!(
        ask(answer, true).await.result.unwrap().message.text,
        "Hello"
    );
}

#[tokio::test]
async fn what_a_server_says_cannot_steer_a_terminal() {
    let said =
        r#"{"error":{"message":"\u001b[2J\u001b]0;gone\u0007 two\nlines","code":"a\u001bb"}}"#;
    for answer in [
        Answer::status(500).piece(said),
        Answer::status(500).piece("\x1b[2J plain"),
        Answer::events(format!("data: {said}\n\n")),
    ] {
        let error = ask(answer, true).await.result.unwrap_err();

        assert!(!error.to_string().contains(char::is_control), "{error:?}");
        assert!(!error.code().unwrap_or("").contains(char::is_control));
    }
}

#[tokio::test]
async fn of_what_comes_when_the_time_is_over_nothing_is_read() {
    // More than is read at once.
    let rest = format!(": {}\n{HELLO}{END}", "x".repeat(64 * 1024));
    let answer = Answer::events(HELLO).piece(rest);
    let server = ReplayServer::start([answer]).await;
    let model = client(&server).build().unwrap();
    let mut deltas = model.stream(request());
    deltas.next().await.unwrap().unwrap();

    tokio::time::pause();
    tokio::time::advance(Timeouts::new().whole).await;
    let error = deltas.next().await.unwrap().unwrap_err();

    assert_eq!(error.kind(), ModelErrorKind::Timeout, "{error}");
}

#[tokio::test]
async fn the_longest_duration_is_no_limit() {
    let answer = || Answer::events(format!("{HELLO}{END}"));
    let server = ReplayServer::start([answer(), answer()]).await;
    let no_limit = Timeouts::new()
        .connect(Duration::MAX)
        .first_byte(Duration::MAX)
        .idle(Duration::MAX)
        .whole(Duration::MAX);
    let model = client(&server).timeouts(no_limit).build().unwrap();

    assert_eq!(stream(&model).await.result.unwrap().message.text, "Hello");
    assert_eq!(model.chat(request()).await.unwrap().message.text, "Hello");
}

#[test]
fn one_client_serves_one_runtime_after_another() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let serving = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let answers = (0..6).map(|_| Answer::events(format!("{HELLO}{END}")));
    let server = serving.block_on(ReplayServer::start(answers));
    let model = client(&server).build().unwrap();

    for _ in 0..6 {
        let outcome = runtime().block_on(stream(&model));
        assert_eq!(outcome.result.unwrap().message.text, "Hello");
    }
}
