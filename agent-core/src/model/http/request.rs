//! The head of a request, all but the length of its body written once.

use std::io::Write as _;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use url::{Position, Url};

use super::Expect;
use super::connector::Route;

/// The text before the body, for each kind of answer that is asked for.
pub(super) struct Heads {
    events: Head,
    json: Head,
}

impl Heads {
    /// What is accepted is for the headers to say, if they do.
    pub(super) fn new(url: &Url, route: &Route, headers: &HeaderMap) -> Self {
        let accepting = |media_type| {
            let mut headers = headers.clone();
            let accept = HeaderValue::from_static(media_type);
            headers.entry(header::ACCEPT).or_insert(accept);
            Head::new(url, route, &headers)
        };
        Self {
            events: accepting("text/event-stream"),
            json: accepting("application/json"),
        }
    }

    /// The head of a request with this body.
    pub(super) fn before(&self, body: &[Bytes], expect: Expect) -> Vec<u8> {
        match expect {
            Expect::EventStream => self.events.before(body),
            Expect::Json => self.json.before(body),
        }
    }
}

/// A request to one URL, up to the number of bytes that follow.
struct Head {
    text: Vec<u8>,
}

impl Head {
    fn new(url: &Url, route: &Route, headers: &HeaderMap) -> Self {
        let mut text = b"POST ".to_vec();
        let from = match route {
            Route::Forwarded(_) => Position::BeforeScheme,
            Route::Direct | Route::Tunnelled(_) | Route::Socks(_) => Position::BeforePath,
        };
        text.extend_from_slice(url[from..Position::AfterQuery].as_bytes());
        text.extend_from_slice(b" HTTP/1.1\r\n");
        let mut add = |name: &str, value: &[u8]| {
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b": ");
            text.extend_from_slice(value);
            text.extend_from_slice(b"\r\n");
        };
        for (name, value) in headers {
            add(name.as_str(), value.as_bytes());
        }
        if let Route::Forwarded(proxy) = route
            && let Some(authorization) = proxy.authorization()
        {
            add("proxy-authorization", authorization.as_bytes());
        }
        text.extend_from_slice(b"content-length: ");
        Self { text }
    }

    fn before(&self, body: &[Bytes]) -> Vec<u8> {
        let length: usize = body.iter().map(Bytes::len).sum();
        let mut head = Vec::with_capacity(self.text.len() + 24);
        head.extend_from_slice(&self.text);
        // A vector takes all that is written.
        let _ = write!(head, "{length}\r\n\r\n");
        head
    }
}
