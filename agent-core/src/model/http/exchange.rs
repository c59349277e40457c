//! One request on one connection: writes it, and reads until the head of its answer is whole.

use std::future::poll_fn;
use std::io;
use std::task::{Poll, ready};

use super::body::Piece;
use super::head::{Head, MAX_HEAD, Malformed};
use super::io::{Io, receive};
use super::request;
use super::sending::{Sending, Unsent};

/// Why an exchange came to no end.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("the server closed the connection before it answered")]
    ClosedUnanswered,
    #[error("the server closed the connection in the middle of the answer")]
    ClosedAnswering,
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The head of an answer, and the connection that its body comes from.
pub(super) struct Answer {
    pub(super) io: Box<dyn Io>,
    pub(super) head: Head,
    /// The text of the head, and behind it what of the body came with it.
    pub(super) bytes: Vec<u8>,
    pub(super) unsent: Option<Unsent>,
}

/// Sends the pieces, in order, as one request, and waits for the head of its answer.
///
/// Reads while it writes: who is refused for the size of the request learns it before all is sent,
/// and the rest is not. A server that begins a good answer may still want it.
pub(super) async fn exchange(
    mut io: Box<dyn Io>,
    head: &request::Head,
    body: &[Piece],
) -> Result<Answer, Broken> {
    let mut sending = Sending::new(head, body);
    let mut bytes = Vec::new();
    let head = poll_fn(|cx| {
        sending.poll(&mut *io, cx);
        loop {
            let fresh = bytes.len();
            match ready!(receive(&mut *io, cx, &mut bytes)) {
                Ok(0) => {
                    // The beginning of a head, or of what is none?
                    Head::read(&bytes)?;
                    let failed = sending.failed.take().map(Broken::Io);
                    return Poll::Ready(Err(failed.unwrap_or(Broken::ClosedUnanswered)));
                }
                Ok(_) => {}
                Err(error) => {
                    // What the writing met tells more than that nothing can be read after it.
                    let error = sending.failed.take().unwrap_or(error);
                    return Poll::Ready(Err(error.into()));
                }
            }
            if let Some(mut head) = head_of(&mut bytes, fresh)? {
                head.keeps_alive &= sending.is_over;
                return Poll::Ready(Ok(head));
            }
        }
    });
    let head = head.await?;
    let unsent = match head.status {
        200..300 => sending.unsent(),
        _ => None,
    };
    Ok(Answer {
        io,
        head,
        bytes,
        unsent,
    })
}

/// The head of the answer itself, once it is whole; what was announced before it is let go. Bytes
/// before `fresh` were looked at.
fn head_of(bytes: &mut Vec<u8>, fresh: usize) -> Result<Option<Head>, Malformed> {
    // A head ends with a line; one that comes byte by byte is not read anew for each. That it is
    // none is told by its first bytes, and its sender may wait for an answer to them.
    let mut has_line = fresh == 0 || bytes[fresh..].contains(&b'\n');
    while has_line {
        match Head::read(bytes)? {
            Some(head) if head.is_interim() => {
                bytes.drain(..head.length);
                has_line = bytes.contains(&b'\n');
            }
            Some(head) => return Ok(Some(head)),
            None => break,
        }
    }
    if bytes.len() > MAX_HEAD {
        return Err(Malformed::HeadTooLong);
    }
    Ok(None)
}
