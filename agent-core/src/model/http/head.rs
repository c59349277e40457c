//! The head of an answer: its status, its headers, and how its body ends. Pure.
//!
//! The rules are those of RFC 9112, sections 2.2, 4, 6.3 and 9.3.

use std::mem::MaybeUninit;

use super::framing::Framing;

/// Most bytes of a head.
pub(super) const MAX_HEAD: usize = 64 * 1024;

/// Most headers of an answer.
const MAX_HEADERS: usize = 128;

/// What follows is another protocol.
const SWITCHED: u16 = 101;

/// What the first bytes of an answer say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) framing: Framing,
    /// True if another request may follow on the connection.
    pub(super) keeps_alive: bool,
    /// How many bytes it takes.
    pub(super) length: usize,
}

/// Why bytes are no answer of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("the head of the answer cannot be read: {0}")]
    Head(httparse::Error),
    #[error("the head of the answer is longer than {MAX_HEAD} bytes")]
    HeadTooLong,
    #[error("the answer does not tell its length as a number")]
    Length,
    #[error("the body is sent in a coding other than `chunked`")]
    Coding,
    #[error("the size of a chunk cannot be read")]
    Chunk,
}

impl Head {
    /// Reads the head at the beginning of `bytes`; `None` as long as its end is missing.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let length = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut response, bytes, &mut headers)
            .map_err(Malformed::Head)?;
        let httparse::Status::Complete(length) = length else {
            return Ok(None);
        };
        let status = response.code.unwrap_or_default();
        let mut body = Body::default();
        for header in &*response.headers {
            body.learn(header.name, header.value)?;
        }
        let is_modern = response.version == Some(1);
        let keeps_alive = match is_modern {
            true => !body.closes,
            // An old server that sends chunks says nothing that can be trusted.
            false => body.stays && !body.closes && body.coding.is_none(),
        };
        let framing = match (status, body.coding, body.length) {
            (..=199 | 204 | 304, ..) => Framing::Over,
            // A length beside it is not believed, nor is what follows the body.
            (_, Some(true), _) => Framing::chunked(),
            (_, Some(false), _) => return Err(Malformed::Coding),
            (_, None, Some(0)) => Framing::Over,
            (_, None, Some(length)) => Framing::Length(length),
            (_, None, None) => Framing::UntilClose,
        };
        let is_ambiguous = body.coding.is_some() && body.length.is_some();
        Ok(Some(Self {
            status,
            keeps_alive: keeps_alive
                && !is_ambiguous
                && status != SWITCHED
                && framing != Framing::UntilClose,
            framing,
            length,
        }))
    }

    /// True if another head follows, the one of the answer itself.
    pub(super) fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != SWITCHED
    }
}

/// What the headers say of the body.
#[derive(Default)]
struct Body {
    length: Option<u64>,
    /// True if its only coding is `chunked`. It may be said twice, by the server and by what adds
    /// headers to its answers, and is done once.
    coding: Option<bool>,
    closes: bool,
    stays: bool,
}

impl Body {
    fn learn(&mut self, name: &str, value: &[u8]) -> Result<(), Malformed> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        match name.len() {
            14 if is("content-length") => {
                for number in words(value) {
                    let number = decimal(number).ok_or(Malformed::Length)?;
                    if self.length.is_some_and(|length| length != number) {
                        return Err(Malformed::Length);
                    }
                    self.length = Some(number);
                }
                self.length.ok_or(Malformed::Length)?;
            }
            17 if is("transfer-encoding") => {
                for coding in words(value) {
                    let is_chunked = coding.eq_ignore_ascii_case(b"chunked");
                    self.coding = Some(is_chunked && self.coding != Some(false));
                }
            }
            10 if is("connection") => {
                for word in words(value) {
                    self.closes |= word.eq_ignore_ascii_case(b"close");
                    self.stays |= word.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = value.split(|byte| *byte == b',');
    words
        .map(<[u8]>::trim_ascii)
        .filter(|word| !word.is_empty())
}

/// Digits and nothing else: a sign would be read by some and not by others.
fn decimal(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// The value of a header in the text of a head that was read; empty if there is none, or if it is
/// no text.
pub(super) fn header<'a>(head: &'a [u8], name: &str) -> &'a str {
    let mut lines = head.split(|byte| *byte == b'\n');
    let value = lines.find_map(|line| {
        let (own, rest) = line.split_at_checked(name.len())?;
        let value = rest.strip_prefix(b":")?;
        own.eq_ignore_ascii_case(name.as_bytes()).then_some(value)
    });
    let value = value.and_then(|value| std::str::from_utf8(value.trim_ascii()).ok());
    value.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Head {
        let head = Head::read(text.as_bytes());
        head.expect("a head").expect("a whole head")
    }

    #[test]
    fn the_headers_tell_how_the_body_ends() {
        for (headers, framing, keeps_alive) in [
            ("content-length: 5\r\n", Framing::Length(5), true),
            ("Content-Length: 5, 5\r\n", Framing::Length(5), true),
            ("content-length: 0\r\n", Framing::Over, true),
            ("transfer-encoding: Chunked\r\n", Framing::chunked(), true),
            (
                "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
                Framing::chunked(),
                true,
            ),
            (
                "content-length: 5\r\nconnection: keep-alive, Close\r\n",
                Framing::Length(5),
                false,
            ),
            (
                "content-length: 5\r\ntransfer-encoding: chunked\r\n",
                Framing::chunked(),
                false,
            ),
            ("x: y\r\n", Framing::UntilClose, false),
        ] {
            let head = read(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n"));
            assert_eq!(
                (head.framing, head.keeps_alive),
                (framing, keeps_alive),
                "{headers}"
            );
        }
    }

    #[test]
    fn an_old_server_keeps_a_connection_only_if_it_says_so() {
        let closes = read("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n");
        let keeps = read("HTTP/1.0 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n");
        assert!(!closes.keeps_alive && keeps.keeps_alive);
    }

    #[test]
    fn a_status_without_a_body_has_none_whatever_it_says() {
        for status in [100, 103, 204, 304] {
            let head = read(&format!("HTTP/1.1 {status} x\r\ncontent-length: 9\r\n\r\n"));
            assert_eq!(head.framing, Framing::Over, "{status}");
        }
    }

    #[test]
    fn lengths_and_codings_that_two_would_read_differently_are_refused() {
        for (headers, fault) in [
            ("content-length: +5", Malformed::Length),
            ("content-length: 5, 6", Malformed::Length),
            ("content-length: 5\r\ncontent-length: 6", Malformed::Length),
            ("content-length:", Malformed::Length),
            ("content-length: 99999999999999999999", Malformed::Length),
            ("transfer-encoding: gzip, chunked", Malformed::Coding),
            ("transfer-encoding: chunked, gzip", Malformed::Coding),
            ("transfer-encoding: identity", Malformed::Coding),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n");
            assert_eq!(Head::read(text.as_bytes()), Err(fault), "{headers}");
        }
    }

    #[test]
    fn a_head_is_read_once_its_end_is_there() {
        let text = "HTTP/1.1 200 OK\r\nretry-after: 3\r\nContent-Type:text/event-stream\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(Head::read(&text.as_bytes()[..end]), Ok(None), "{end}");
        }
        assert_eq!(read(text).length, text.len());
        assert_eq!(header(text.as_bytes(), "content-type"), "text/event-stream");
        assert_eq!(header(text.as_bytes(), "Retry-After"), "3");
        assert_eq!(header(text.as_bytes(), "retry"), "");
    }
}
