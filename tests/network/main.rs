//! How a connection to a model is made: in TLS, and by the proxies that the environment names. A
//! binary of its own, because each test asks in a child with an environment of its own.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod servers;

use std::error::Error;
use std::process::Command;

use agent_core::Message;
use agent_core::message::Transcript;
use agent_core::model::{ChatModel as _, ChatRequest, OpenAi};
use servers::{Certificate, Server};

/// What the child asks.
const ASKED: &str = "NETWORK_TEST_ASKED";

/// All that names a proxy or certificates.
const VARIABLES: [&str; 8] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// Asks twice, as the environment says, and tells what came.
#[tokio::test]
async fn as_the_child() {
    let Ok(url) = std::env::var(ASKED) else {
        return;
    };
    let client = OpenAi::builder().base_url(url).model("m").build();
    let history = Transcript::from_messages([Message::user("Hi")]).unwrap();
    let asked = ChatRequest::new(history).unwrap();
    for _ in 0..2 {
        let told = match &client {
            Ok(client) => client.chat(asked.clone()).await,
            Err(error) => {
                println!("\n@@{:?}: {error}", error.kind());
                continue;
            }
        };
        match told {
            Ok(response) => println!("\n@@{}", response.message.text),
            Err(error) => {
                let mut causes = Vec::new();
                let mut next = error.source();
                while let Some(cause) = next {
                    causes.push(cause.to_string());
                    next = cause.source();
                }
                println!("\n@@{:?}: {error}: {}", error.kind(), causes.join(": "));
            }
        }
    }
}

/// What a child in this environment is told, twice.
async fn ask(url: String, environment: &[(&str, String)]) -> [String; 2] {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "as_the_child", "--nocapture"]);
    VARIABLES.iter().for_each(|name| {
        child.env_remove(name);
    });
    child.env(ASKED, url);
    child.envs(environment.iter().map(|(name, value)| (name, value)));
    let output = tokio::task::spawn_blocking(move || child.output());
    let output = output.await.unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let told = text.lines().filter_map(|line| line.strip_prefix("@@"));
    let told: Vec<String> = told.map(str::to_owned).collect();
    told.try_into().unwrap_or_else(|_| panic!("{text}"))
}

/// The variable that makes these the roots of a child, and the file behind it.
fn roots(certificates: &[&Certificate]) -> (tempfile::NamedTempFile, (&'static str, String)) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let pem: String = certificates.iter().map(|it| &*it.pem).collect();
    std::fs::write(&file, pem).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    (file, ("SSL_CERT_FILE", path))
}

const HELLO: [&str; 2] = ["Hello", "Hello"];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_tls_is_asked_twice_on_one_connection() {
    let certificate = Certificate::of("localhost");
    let server = Server::start(Some(&certificate)).await;
    let (_file, roots) = roots(&[&certificate]);

    let told = ask(format!("https://localhost:{}/v1", server.port()), &[roots]).await;

    assert_eq!(told, HELLO);
    assert_eq!(server.connections(), 1);
    let host = format!("host: localhost:{}\r\n", server.port());
    assert!(server.seen()[0].contains(&host), "{:?}", server.seen());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_nobody_or_of_another_name_is_refused() {
    let (own, other) = (Certificate::of("localhost"), Certificate::of("localhost"));
    let server = Server::start(Some(&own)).await;
    for (host, known) in [("localhost", &other), ("127.0.0.1", &own)] {
        let (_file, roots) = roots(&[known]);

        let [told, _] = ask(format!("https://{host}:{}/v1", server.port()), &[roots]).await;

        assert!(
            told.starts_with("Transport: cannot connect: `https://"),
            "{told}"
        );
        assert!(told.contains("certificate"), "{told}");
    }
    assert_eq!(server.seen(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_is_asked_for_the_whole_url_of_a_plain_server() {
    let proxy = Server::start(None).await;
    let variable = format!("http://ada:secret@127.0.0.1:{}", proxy.port());

    let told = ask(
        "http://models.test/v1?k=v".to_owned(),
        &[("HTTP_PROXY", variable)],
    )
    .await;

    assert_eq!(told, HELLO);
    assert_eq!(proxy.connections(), 1);
    let head = &proxy.seen()[0];
    let line = "POST http://models.test/v1/chat/completions?k=v HTTP/1.1\r\n";
    assert!(head.starts_with(line), "{head}");
    assert!(head.contains("\r\nhost: models.test\r\n"), "{head}");
    assert!(
        head.contains("\r\nproxy-authorization: Basic YWRhOnNlY3JldA==\r\n"),
        "{head}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_makes_a_tunnel_to_a_server_in_tls() {
    let (named, proxys) = (Certificate::of("models.test"), Certificate::of("localhost"));
    let server = Server::start(Some(&named)).await;
    for (scheme, certificate) in [("http", None), ("https", Some(&proxys))] {
        let proxy = Server::start(certificate).await;
        let variable = format!("{scheme}://ada:secret@localhost:{}", proxy.port());
        let (_file, roots) = roots(&[&named, &proxys]);
        let url = format!("https://models.test:{}/v1", server.port());

        let told = ask(url, &[roots, ("HTTPS_PROXY", variable)]).await;

        assert_eq!(told, HELLO, "{scheme}");
        let head = &proxy.seen()[0];
        let line = format!("CONNECT models.test:{} HTTP/1.1\r\n", server.port());
        assert!(head.starts_with(&line), "{head}");
        assert!(head.contains("Basic YWRhOnNlY3JldA=="), "{head}");
    }
    assert!(
        server
            .seen()
            .iter()
            .all(|head| head.starts_with("POST /v1/"))
    );
    assert!(!server.seen().iter().any(|head| head.contains("roxy")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_socks_looks_names_up_if_its_scheme_says_so() {
    let named = Certificate::of("localhost");
    let (plain, tls) = (Server::start(None).await, Server::start(Some(&named)).await);
    for (scheme, url, host) in [
        (
            "socks5",
            format!("http://localhost:{}/v1", plain.port()),
            "127.0.0.1",
        ),
        (
            "socks5h",
            format!("http://localhost:{}/v1", plain.port()),
            "localhost",
        ),
        (
            "socks5h",
            format!("https://localhost:{}/v1", tls.port()),
            "localhost",
        ),
    ] {
        let proxy = Server::socks().await;
        let variable = format!("{scheme}://ada:secret@127.0.0.1:{}", proxy.port());
        let (_file, roots) = roots(&[&named]);

        let told = ask(url, &[roots, ("ALL_PROXY", variable)]).await;

        assert_eq!(told, HELLO, "{scheme}");
        let seen = &proxy.seen()[0];
        assert!(seen.starts_with(&format!("ada:secret {host}:")), "{seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_needs_no_proxy_is_asked_itself() {
    let server = Server::start(None).await;
    let variables = [
        ("HTTP_PROXY", "http://127.0.0.1:1".to_owned()),
        ("NO_PROXY", "example.test,127.0.0.1".to_owned()),
    ];

    let told = ask(format!("http://127.0.0.1:{}/v1", server.port()), &variables).await;

    assert_eq!(told, HELLO);
    assert!(server.seen()[0].starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_refuses_or_is_of_another_kind_is_named_without_its_password() {
    let proxy = Server::start(None).await;
    for (variable, words) in [
        (
            format!("http://nobody:@127.0.0.1:{}", proxy.port()),
            "Transport: cannot connect, maybe because of the proxy in the environment: `https://models.test/v1/chat/completions`: tunnel error: proxy authorization required",
        ),
        (
            "http://ada:secret@127.0.0.1:1".to_owned(),
            "Transport: cannot connect, maybe because of the proxy in the environment",
        ),
        (
            "socks4://ada:secret@127.0.0.1:1".to_owned(),
            "Configuration: the environment names a proxy of the kind `socks4`",
        ),
    ] {
        let [told, _] = ask(
            "https://models.test/v1".to_owned(),
            &[("ALL_PROXY", variable)],
        )
        .await;

        assert!(told.starts_with(words), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}
