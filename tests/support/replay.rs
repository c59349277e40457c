//! An HTTP/1.1 server in the test's own process that answers by script.
//!
//! [`ReplayServer`] gives each request the next [`Answer`] and keeps what it was asked. The
//! pieces of an answer are chunks of the chunked coding, so a client sees them cut exactly
//! there, whatever the kernel does with the bytes.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// What the server says to one request.
#[derive(Debug, Clone)]
#[must_use]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Cut,
    Hang,
    Silent,
    Gone,
}

impl Answer {
    /// An empty answer of this status.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            pieces: Vec::new(),
            end: End::Whole,
        }
    }

    /// A plain answer with this JSON text.
    pub fn json(text: impl Into<Vec<u8>>) -> Self {
        Self::status(200)
            .header("content-type", "application/json")
            .piece(text)
    }

    /// A stream of server-sent events with this text.
    pub fn events(text: impl Into<Vec<u8>>) -> Self {
        Self::status(200)
            .header("content-type", "text/event-stream")
            .piece(text)
    }

    /// No answer at all: the connection stays open and silent.
    pub fn silence() -> Self {
        Self {
            end: End::Silent,
            ..Self::status(200)
        }
    }

    /// No answer at all: the connection is closed once the request is read.
    pub fn gone() -> Self {
        Self {
            end: End::Gone,
            ..Self::status(200)
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a piece to the body.
    pub fn piece(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.pieces.push(bytes.into());
        self
    }

    /// Cuts the body anew, into pieces of `size` bytes.
    pub fn cut(mut self, size: usize) -> Self {
        let body = self.pieces.concat();
        self.pieces = body.chunks(size).map(<[u8]>::to_vec).collect();
        self
    }

    /// Breaks the connection after the body instead of ending the answer.
    pub fn then_break(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// Sends nothing more after the body, not even its end.
    pub fn then_hang(mut self) -> Self {
        self.end = End::Hang;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = format!("HTTP/1.1 {} Replayed\r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            out.extend(format!("{name}: {value}\r\n").bytes());
        }
        out.extend(b"transfer-encoding: chunked\r\n\r\n");
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            out.extend(format!("{:x}\r\n", piece.len()).bytes());
            out.extend(piece);
            out.extend(b"\r\n");
        }
        if self.end == End::Whole {
            out.extend(b"0\r\n\r\n");
        }
        out
    }
}

/// The answer of a recording: `status`, `headers`, `body_text`.
///
/// # Panics
///
/// If the recording has another form.
pub fn recorded(recording: &Value) -> Answer {
    let status = recording["status"].as_u64().expect("a status");
    let status = u16::try_from(status).expect("a small number");
    let body = recording["body_text"].as_str().expect("a body");
    let mut answer = Answer::status(status).piece(body);
    for header in recording["headers"].as_array().into_iter().flatten() {
        let [name, value] = [0, 1].map(|place| header[place].as_str().unwrap_or_default());
        // How the body is framed is the replaying server's own matter.
        if !["Transfer-Encoding", "Content-Length", "Connection"].contains(&name) {
            answer = answer.header(name, value);
        }
    }
    answer
}

/// A request the server got.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// The method and the path with its query, for example `POST /v1/chat/completions`.
    pub target: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Recorded {
    /// The value of a header, the first if it was sent more than once; empty if there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers(name).next().unwrap_or_default()
    }

    /// Each value of a header.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.headers.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| &**value)
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A server that answers by script.
#[derive(Debug)]
pub struct ReplayServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// One permit for each connection that the client closed.
    closed: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<Answer>,
    requests: Vec<Recorded>,
    connections: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReplayServer {
    /// Starts a server on a free port; it stops when it is dropped.
    ///
    /// # Panics
    ///
    /// If no port can be had.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("the port's address");
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                answers: answers.into_iter().collect(),
                ..State::default()
            }),
            closed: Semaphore::new(0),
        });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.state().connections += 1;
                let shared = Arc::clone(&serving);
                tokio::spawn(async move {
                    // A connection that breaks is the client's way to say that it is gone.
                    let _ = serve(stream, &shared).await;
                    shared.closed.add_permits(1);
                });
            }
        });
        Self {
            address,
            shared,
            task: task.abort_handle(),
        }
    }

    /// The base URL of the API this server plays.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// How many connections were made.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.state().connections
    }

    /// Waits until one more connection was closed by the client.
    pub async fn closed(&self) {
        if let Ok(permit) = self.shared.closed.acquire().await {
            permit.forget();
        }
    }
}

impl Drop for ReplayServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await? {
        let answer = {
            let mut state = shared.state();
            state.requests.push(request);
            let missing = || Answer::status(500).piece("the script has no answer left");
            state.answers.pop_front().unwrap_or_else(missing)
        };
        if !matches!(answer.end, End::Silent | End::Gone) {
            stream.write_all(&answer.bytes()).await?;
        }
        match answer.end {
            End::Whole => {}
            End::Cut | End::Gone => break,
            End::Hang | End::Silent => {
                stream.read_to_end(&mut Vec::new()).await?;
                break;
            }
        }
    }
    Ok(())
}

/// Reads one request; `None` if the client closed the connection instead.
async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Recorded>> {
    let mut request = Recorded::default();
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let target = line.trim_end().rsplit_once(' ').unwrap_or_default().0;
    target.clone_into(&mut request.target);
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        request.headers.push(header);
    }
    let length = request.header("content-length").parse().unwrap_or(0);
    request.body.resize(length, 0);
    stream.read_exact(&mut request.body).await?;
    Ok(Some(request))
}
