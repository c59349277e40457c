//! The head of a request, all but the length of its body written once.

use std::io::Write as _;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::{Position, Url};

use super::Expect;
use super::connector::Route;

/// The headers of every request: what it is, who asks, and those that were set by hand, which come
/// over the others. What is wrong with one, if it cannot be sent.
pub(super) fn headers(
    host: HeaderValue,
    user: Option<HeaderValue>,
    by_hand: &[(String, String)],
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.extend(user.map(|user| (header::AUTHORIZATION, user)));
    headers.insert(header::HOST, host);
    let json = HeaderValue::from_static("application/json");
    headers.insert(header::CONTENT_TYPE, json);
    let mut over = HeaderMap::new();
    for (name, value) in by_hand {
        let header = HeaderName::try_from(name)
            .map_err(|_| format!("`{name}` is no name of an HTTP header"))?;
        if matches!(header, header::CONTENT_LENGTH | header::TRANSFER_ENCODING) {
            return Err(format!(
                "header `{name}` is told by the body; it cannot be set"
            ));
        }
        let value = HeaderValue::try_from(value).map_err(|_| {
            format!("the value of header `{name}` holds a character that no header may hold")
        })?;
        over.append(header, value);
    }
    headers.extend(over);
    Ok(headers)
}

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

    /// The one of a request for this kind of answer.
    pub(super) fn of(&self, expect: Expect) -> &Head {
        match expect {
            Expect::EventStream => &self.events,
            Expect::Json => &self.json,
        }
    }
}

/// A request to one URL, up to the number of bytes that follow.
pub(super) struct Head {
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

    /// Adds the head of a request with so many bytes behind it.
    pub(super) fn push_to(&self, out: &mut Vec<u8>, length: usize) {
        out.extend_from_slice(&self.text);
        // A vector takes all that is written.
        let _ = write!(out, "{length}\r\n\r\n");
    }
}
