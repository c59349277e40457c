//! What the client makes of connections that do not go as they should.

use std::time::Duration;

use agent_core::Message;
use agent_core::message::Transcript;
use agent_core::model::{ChatRequest, ModelError, ModelErrorKind, OpenAi, Timeouts};
use agent_tests::replay::{Answer, ReplayServer};
use agent_tests::wire;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{END, HELLO, client, stream};

/// Shorter than anybody would wait for a test.
const SOON: Duration = Duration::from_secs(5);

fn answer() -> Answer {
    Answer::events(format!("{HELLO}{END}"))
}

fn model_of(listener: &TcpListener) -> OpenAi {
    let address = listener.local_addr().unwrap();
    let model = OpenAi::builder().base_url(format!("http://{address}/v1"));
    let limits = Timeouts::new().first_byte(SOON).idle(SOON);
    model.model("m").timeouts(limits).build().unwrap()
}

/// Asks for more than lies between two sockets.
fn large() -> ChatRequest {
    let text = "x".repeat(16 * 1024 * 1024);
    let asked = Transcript::from_messages([Message::user(text)]).unwrap();
    ChatRequest::new(asked).unwrap()
}

/// What comes of a server that says this at once, and then waits.
async fn ask_who_says(said: &[u8]) -> ModelError {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = model_of(&listener);
    let server = async {
        let (mut tcp, _) = listener.accept().await.unwrap();
        tcp.write_all(said).await.unwrap();
        // The client has gone once it can make nothing of that.
        let _ = tcp.read_to_end(&mut Vec::new()).await;
    };
    let (_, outcome) = tokio::join!(server, stream(&model));
    outcome.result.unwrap_err()
}

#[tokio::test]
async fn a_server_of_another_protocol_is_told_by_its_first_bytes() {
    for said in ["SSH-2.0-OpenSSH_9.9\r\n", "\x15\x03\x01\0\x02\x02\x46"] {
        let error = ask_who_says(said.as_bytes()).await;

        assert_eq!(error.kind(), ModelErrorKind::Transport, "{error}");
        let text = error.to_string();
        assert!(text.starts_with("what answers does not speak"), "{text}");
    }
}

#[tokio::test]
async fn a_server_that_answers_before_it_reads_still_gets_the_whole_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = model_of(&listener);
    let asked = large();
    let body = model.request_text(&asked);
    let server = async {
        let (mut tcp, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 1];
        tcp.read_exact(&mut request).await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
        tcp.write_all(head).await.unwrap();
        while request.len() < body.len() || !request.ends_with(b"}") {
            if tcp.read_buf(&mut request).await.unwrap() == 0 {
                break;
            }
        }
        let events = format!("{HELLO}{END}");
        // The client is there no more, if it could not send all.
        let _ = tcp.write_all(events.as_bytes()).await;
        request
    };

    let (request, outcome) = tokio::join!(server, wire::ask(&model, asked, true));

    assert_eq!(outcome.result.unwrap().message.text, "Hello");
    assert!(request.ends_with(body.as_bytes()));
}

#[tokio::test]
async fn what_a_server_says_to_a_connection_it_closes_is_no_answer() {
    let server = ReplayServer::start([answer(), Answer::status(408), answer()]).await;
    let model = client(&server).build().unwrap();

    for _ in 0..2 {
        assert_eq!(stream(&model).await.result.unwrap().message.text, "Hello");
    }
    assert_eq!((server.requests().len(), server.connections()), (3, 2));
}

#[tokio::test]
async fn a_request_refused_for_its_size_is_told_so_though_nobody_read_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = model_of(&listener);
    let server = async {
        let (mut tcp, _) = listener.accept().await.unwrap();
        tcp.readable().await.unwrap();
        let refusal = b"HTTP/1.1 413 No\r\ncontent-length: 8\r\n\r\ntoo long";
        tcp.write_all(refusal).await.unwrap();
    };

    let (_, outcome) = tokio::join!(server, wire::ask(&model, large(), true));

    let error = outcome.result.unwrap_err();
    assert_eq!(error.status(), Some(413), "{error}");
    assert!(error.to_string().ends_with("too long"), "{error}");
}

#[tokio::test]
async fn a_connection_with_something_behind_its_answer_is_not_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = model_of(&listener);
    let body = format!("{HELLO}{END}");
    let said = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}HTTP/1.1",
        body.len()
    );
    let server = async {
        let mut open = Vec::new();
        for _ in 0..2 {
            let (mut tcp, _) = listener.accept().await.unwrap();
            tcp.readable().await.unwrap();
            tcp.write_all(said.as_bytes()).await.unwrap();
            open.push(tcp);
        }
        open
    };
    let asking = async { [stream(&model).await, stream(&model).await] };

    let both = async { tokio::join!(server, asking).1 };
    let outcomes = tokio::time::timeout(2 * SOON, both).await.unwrap();

    for outcome in outcomes {
        assert_eq!(outcome.result.unwrap().message.text, "Hello");
    }
}

#[tokio::test]
async fn a_connection_that_is_not_used_for_some_seconds_is_closed() {
    let server = ReplayServer::start([answer()]).await;
    let model = client(&server).build().unwrap();
    stream(&model).await.result.unwrap();

    tokio::time::pause();
    let closed = tokio::time::timeout(Duration::from_secs(60), server.closed()).await;

    assert!(closed.is_ok());
}
