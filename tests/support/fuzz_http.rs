//! Any bytes as what a server says, from the status line on.

use agent_core::Message;
use agent_core::message::Transcript;
use agent_core::model::{Accumulator, ChatModel as _, ChatRequest};
use agent_core::model::{ChatResponse, ModelError, OpenAi};
use futures_util::StreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::fuzz::{cut, shown};

/// Any bytes as the answer to a request, cut by what stands before them. Then the server is gone.
///
/// # Panics
///
/// If the answer depends on how it was cut.
pub fn http(data: &[u8]) {
    thread_local! {
        static SERVER: (Runtime, TcpListener) = server();
    }
    let (sizes, said) = data.split_at(data.len().min(4));
    let pieces = cut(said, sizes);
    SERVER.with(|(runtime, listener)| {
        runtime.block_on(async {
            for is_stream in [false, true] {
                let whole = shown(ask(listener, &[said], is_stream).await);
                let cut = shown(ask(listener, &pieces, is_stream).await);
                assert_eq!(cut, whole);
            }
        });
    });
}

fn server() -> (Runtime, TcpListener) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
    (runtime, listener.expect("a port"))
}

/// What a client makes of these words of a server.
async fn ask(
    listener: &TcpListener,
    pieces: &[&[u8]],
    is_stream: bool,
) -> Result<ChatResponse, ModelError> {
    let address = listener.local_addr().expect("an address");
    let model = OpenAi::builder().base_url(format!("http://{address}/v1"));
    let model = model.model("m").build()?;
    let history = Transcript::from_messages([Message::user("Hi")]).expect("a history");
    let request = ChatRequest::new(history).expect("a closed history");
    let server = async {
        let (mut tcp, _) = listener.accept().await.expect("a connection");
        let mut request = [0; 4096];
        let mut read = 0;
        while !request[..read].ends_with(b"}") {
            read += tcp.read(&mut request[read..]).await.expect("a request");
        }
        for piece in pieces {
            // The client may have gone before all was said.
            if tcp.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    let answer = async {
        if !is_stream {
            return model.chat(request).await;
        }
        let mut deltas = model.stream(request);
        let mut answer = Accumulator::new();
        while let Some(delta) = deltas.next().await {
            answer.push(delta?);
        }
        answer.finish()
    };
    tokio::join!(server, answer).1
}
