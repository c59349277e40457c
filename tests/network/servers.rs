//! Servers and proxies as they stand between a program and a model.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

/// A whole answer of a model, and the head before it.
const ANSWER: &str = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}]}"#;

/// Names a server is known by, and what proves it.
pub(crate) struct Certificate {
    pub(crate) pem: String,
    acceptor: TlsAcceptor,
}

impl Certificate {
    pub(crate) fn of(name: &str) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let key = made.signing_key.serialize_der().try_into().unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        Self {
            pem: made.cert.pem(),
            acceptor: TlsAcceptor::from(Arc::new(config)),
        }
    }
}

/// A server of models, or a proxy before one: it does what the first words ask for.
pub(crate) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    /// How often somebody connected.
    connections: Arc<Mutex<usize>>,
}

impl Server {
    pub(crate) async fn start(certificate: Option<&Certificate>) -> Self {
        let acceptor = certificate.map(|it| it.acceptor.clone());
        Self::accepting(move |tcp, seen| {
            let acceptor = acceptor.clone();
            async move {
                match acceptor {
                    Some(acceptor) => match acceptor.accept(tcp).await {
                        Ok(tls) => serve(tls, &seen).await,
                        Err(_) => Ok(()),
                    },
                    None => serve(tcp, &seen).await,
                }
            }
        })
        .await
    }

    /// A proxy that speaks SOCKS 5, to who says user and password.
    pub(crate) async fn socks() -> Self {
        Self::accepting(|tcp, seen| async move { socks(tcp, &seen).await }).await
    }

    async fn accepting<F>(serve: impl Fn(TcpStream, Seen) -> F + Send + 'static) -> Self
    where
        F: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            seen: Arc::default(),
            connections: Arc::default(),
        };
        let (seen, connections) = (Arc::clone(&server.seen), Arc::clone(&server.connections));
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                *connections.lock().unwrap() += 1;
                tokio::spawn(serve(tcp, Arc::clone(&seen)));
            }
        });
        server
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The heads of the requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

type Seen = Arc<Mutex<Vec<String>>>;

async fn serve<T>(mut io: T, seen: &Seen) -> std::io::Result<()>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(io.read_u8().await?);
        }
        let head = String::from_utf8(head).unwrap();
        seen.lock().unwrap().push(head.clone());
        if head.contains("Basic bm9ib2R5Og==") {
            let refused = "HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n";
            return io.write_all(refused.as_bytes()).await;
        }
        if let Some(server) = head.strip_prefix("CONNECT ") {
            let mut there = connect(server.split(' ').next().unwrap()).await?;
            io.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
            tokio::io::copy_bidirectional(&mut io, &mut there).await?;
            return Ok(());
        }
        let length = head
            .lines()
            .find_map(|it| it.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        io.read_exact(&mut body).await?;
        let length = ANSWER.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{ANSWER}"
        );
        io.write_all(answer.as_bytes()).await?;
        io.flush().await?;
    }
}

async fn socks(mut tcp: TcpStream, seen: &Seen) -> std::io::Result<()> {
    // RFC 1928: version, methods; RFC 1929: version, user, password.
    let _ = tcp.read_u8().await?;
    let methods = bytes(&mut tcp).await?;
    assert!(methods.contains(&2), "no password is offered");
    tcp.write_all(&[5, 2]).await?;
    let _ = tcp.read_u8().await?;
    let user = text(&mut tcp).await?;
    let password = text(&mut tcp).await?;
    tcp.write_all(&[1, 0]).await?;
    // Version, the wish to connect, nothing, the kind of the address.
    let wish = tcp.read_u32().await?;
    let host = match wish & 0xff {
        1 => std::net::Ipv4Addr::from(tcp.read_u32().await?).to_string(),
        3 => text(&mut tcp).await?,
        other => panic!("an address of the kind {other}"),
    };
    let port = tcp.read_u16().await?;
    seen.lock()
        .unwrap()
        .push(format!("{user}:{password} {host}:{port}"));
    let mut there = connect(&format!("{host}:{port}")).await?;
    tcp.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    tokio::io::copy_bidirectional(&mut tcp, &mut there).await?;
    Ok(())
}

/// What stands behind its length.
async fn bytes(tcp: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; tcp.read_u8().await?.into()];
    tcp.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn text(tcp: &mut TcpStream) -> std::io::Result<String> {
    Ok(String::from_utf8(bytes(tcp).await?).unwrap())
}

/// To this host and port, whose names are all this machine's.
async fn connect(address: &str) -> std::io::Result<TcpStream> {
    let (_, port) = address.rsplit_once(':').unwrap();
    TcpStream::connect(("127.0.0.1", port.parse().unwrap())).await
}
