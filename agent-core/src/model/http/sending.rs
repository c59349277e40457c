//! Writes a request: before its answer begins, and what is left of it beside the answer.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::slice;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};

use super::body::Piece;
use super::io::Io;
use super::request::Head;

/// From this size on a piece is written by itself; shorter ones are cheaper to copy than to write.
const LARGE: usize = 64 * 1024;

/// The largest buffer that is kept for the next request.
const MOST_KEPT: usize = 256 * 1024;

thread_local! {
    /// Most requests go out at once, so the next one of a thread finds the buffer that is still in
    /// its cache.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A request on its way.
///
/// Short pieces are written together: a body may be many, and each write wakes the other end.
pub(super) struct Sending<'a> {
    /// What is written now.
    run: Vec<u8>,
    sent: usize,
    /// What is written then.
    long: &'a [u8],
    left: slice::Iter<'a, Piece>,
    /// True once all is sent.
    pub(super) is_over: bool,
    /// What ended the writing too early; an answer may have been sent before.
    pub(super) failed: Option<io::Error>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(head: &Head, body: &'a [Piece]) -> Self {
        let mut run = BUFFER.try_with(Cell::take).unwrap_or_default();
        head.push_to(
            &mut run,
            body.iter().map(|piece| piece.as_str().len()).sum(),
        );
        let mut sending = Self {
            run,
            sent: 0,
            long: &[],
            left: body.iter(),
            is_over: false,
            failed: None,
        };
        sending.fill();
        sending
    }

    /// Takes the pieces up to a long one.
    fn fill(&mut self) {
        for piece in &mut self.left {
            let bytes = piece.as_str().as_bytes();
            if bytes.len() >= LARGE {
                self.long = bytes;
                return;
            }
            self.run.extend_from_slice(bytes);
        }
    }

    pub(super) fn poll(&mut self, io: &mut dyn Io, cx: &mut Context<'_>) {
        if self.is_over || self.failed.is_some() {
            return;
        }
        match self.write(io, cx) {
            Poll::Ready(Ok(())) => self.is_over = true,
            Poll::Ready(Err(error)) => self.failed = Some(error),
            Poll::Pending => return,
        }
        let mut run = std::mem::take(&mut self.run);
        if run.capacity() <= MOST_KEPT {
            run.clear();
            // A thread that ends keeps nothing.
            let _ = BUFFER.try_with(|buffer| buffer.set(run));
        }
    }

    fn write(&mut self, io: &mut dyn Io, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut io = Pin::new(io);
        loop {
            while self.sent < self.run.len() {
                match ready!(io.as_mut().poll_write(cx, &self.run[self.sent..]))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    written => self.sent += written,
                }
            }
            while !self.long.is_empty() {
                match ready!(io.as_mut().poll_write(cx, self.long))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    written => self.long = &self.long[written..],
                }
            }
            self.run.clear();
            self.sent = 0;
            self.fill();
            if self.run.is_empty() && self.long.is_empty() {
                return io.poll_flush(cx);
            }
        }
    }

    /// What is still to be sent.
    pub(super) fn unsent(&self) -> Option<Unsent> {
        if self.is_over || self.failed.is_some() {
            return None;
        }
        let mut bytes = self.run[self.sent..].to_vec();
        bytes.extend_from_slice(self.long);
        for piece in self.left.clone() {
            bytes.extend_from_slice(piece.as_str().as_bytes());
        }
        Some(Unsent(bytes.into()))
    }
}

/// What is left of a request when its answer begins.
pub(super) struct Unsent(Bytes);

impl Unsent {
    /// Ready once nothing more is to be sent, or can be.
    pub(super) fn poll(&mut self, io: &mut dyn Io, cx: &mut Context<'_>) -> Poll<()> {
        while !self.0.is_empty() {
            match ready!(Pin::new(&mut *io).poll_write(cx, &self.0)) {
                Err(_) | Ok(0) => return Poll::Ready(()),
                Ok(written) => self.0.advance(written),
            }
        }
        Pin::new(io).poll_flush(cx).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http::HeaderMap;
    use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
    use url::Url;

    use super::super::Expect;
    use super::super::connector::Route;
    use super::super::request::Heads;
    use super::*;

    /// Takes at most `most` bytes of a write, and every other one later.
    struct Slow {
        taken: Vec<u8>,
        most: usize,
        is_ready: bool,
    }

    impl AsyncRead for Slow {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for Slow {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.is_ready ^= true;
            if !self.is_ready {
                return Poll::Pending;
            }
            let bytes = &bytes[..bytes.len().min(self.most)];
            self.taken.extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_request_is_whole_however_much_of_it_is_taken_at_once_and_wherever_it_is_left() {
        let url = Url::parse("http://h/v1").expect("a URL");
        let heads = Heads::new(&url, &Route::Direct, &HeaderMap::new());
        let long = || "x".repeat(LARGE);
        let pieces: [Piece; 6] = [
            "a".into(),
            long().into(),
            "b".into(),
            "c".into(),
            long().into(),
            long().into(),
        ];
        let body = super::super::text_of(&pieces);
        let head = "POST /v1 HTTP/1.1\r\naccept: application/json\r\ncontent-length: ";
        let whole = format!("{head}{}\r\n\r\n{body}", body.len());
        let mut cx = Context::from_waker(Waker::noop());

        for (most, polls) in [(7, usize::MAX), (7, 3), (100_000, usize::MAX), (70_000, 3)] {
            let mut io = Slow {
                taken: Vec::new(),
                most,
                is_ready: false,
            };
            let mut sending = Sending::new(heads.of(Expect::Json), &pieces);
            let mut polled = 0;
            while !sending.is_over && polled < polls {
                sending.poll(&mut io, &mut cx);
                polled += 1;
            }
            if let Some(mut unsent) = sending.unsent() {
                while unsent.poll(&mut io, &mut cx).is_pending() {}
            }

            assert!(sending.failed.is_none());
            let sent = String::from_utf8(io.taken).expect("text");
            assert!(sent == whole, "{} bytes, {most} at once", sent.len());
        }
    }
}
