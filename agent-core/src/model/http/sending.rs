//! Writes a request: before its answer begins, and what is left of it beside the answer.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};

use super::body::Piece;
use super::io::Io;
use super::request::Head;

/// From this size on a piece is written from where it is kept; shorter ones are cheaper to copy.
const LARGE: usize = 64 * 1024;

/// So many parts are handed to one write.
const AT_ONCE: usize = 16;

/// The largest buffer that is kept for the next request.
const MOST_KEPT: usize = 256 * 1024;

thread_local! {
    /// Most requests go out at once, so the next one of a thread finds the buffer that is still in
    /// its cache.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A request on its way.
///
/// It is written at once where the connection takes that: each write wakes the other end.
pub(super) struct Sending<'a> {
    /// The head and the short pieces, one behind the other.
    short: Vec<u8>,
    /// The long pieces, each behind so many bytes of what is short.
    long: Vec<(usize, &'a [u8])>,
    sent: usize,
    /// True once all is sent.
    pub(super) is_over: bool,
    /// What ended the writing too early; an answer may have been sent before.
    pub(super) failed: Option<io::Error>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(head: &Head, body: &'a [Piece]) -> Self {
        let mut short = BUFFER.try_with(Cell::take).unwrap_or_default();
        let mut long = Vec::new();
        let pieces = || body.iter().map(|piece| piece.as_str().as_bytes());
        head.push_to(&mut short, pieces().map(<[u8]>::len).sum());
        for piece in pieces() {
            match piece.len() >= LARGE {
                true => long.push((short.len(), piece)),
                false => short.extend_from_slice(piece),
            }
        }
        Self {
            short,
            long,
            sent: 0,
            is_over: false,
            failed: None,
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
        let mut short = std::mem::take(&mut self.short);
        self.long.clear();
        if short.capacity() <= MOST_KEPT {
            short.clear();
            // A thread that ends keeps nothing.
            let _ = BUFFER.try_with(|buffer| buffer.set(short));
        }
    }

    fn write(&mut self, io: &mut dyn Io, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut io = Pin::new(io);
        loop {
            let mut slices = [IoSlice::new(&[]); AT_ONCE];
            let mut count = 0;
            for (slice, part) in slices.iter_mut().zip(self.left()) {
                *slice = IoSlice::new(part);
                count += 1;
            }
            let written = match &slices[..count] {
                [] => return io.poll_flush(cx),
                [part] => ready!(io.as_mut().poll_write(cx, part))?,
                parts => ready!(io.as_mut().poll_write_vectored(cx, parts))?,
            };
            match written {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.sent += written,
            }
        }
    }

    /// What is not sent yet, in order.
    fn left(&self) -> impl Iterator<Item = &[u8]> {
        let mut from = 0;
        let long = self.long.iter().flat_map(move |(to, long)| {
            let short = &self.short[from..*to];
            from = *to;
            [short, long]
        });
        let last = self.long.last().map_or(0, |(behind, _)| *behind);
        let mut sent = self.sent;
        long.chain([&self.short[last..]]).filter_map(move |part| {
            let gone = sent.min(part.len());
            sent -= gone;
            (gone < part.len()).then(|| &part[gone..])
        })
    }

    /// What is still to be sent.
    pub(super) fn unsent(&self) -> Option<Unsent> {
        if self.is_over || self.failed.is_some() {
            return None;
        }
        Some(Unsent(self.left().collect::<Vec<_>>().concat().into()))
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
        is_vectored: bool,
        writes: usize,
    }

    impl Slow {
        fn new(most: usize, is_vectored: bool) -> Self {
            Self {
                taken: Vec::new(),
                most,
                is_ready: false,
                is_vectored,
                writes: 0,
            }
        }
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
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            parts: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.is_ready ^= true;
            if !self.is_ready {
                return Poll::Pending;
            }
            self.writes += 1;
            let parts = &parts[..if self.is_vectored { parts.len() } else { 1 }];
            let parts: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
            let bytes = parts.concat();
            let bytes = &bytes[..bytes.len().min(self.most)];
            self.taken.extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn is_write_vectored(&self) -> bool {
            self.is_vectored
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

        let cases = [(7, usize::MAX), (7, 3), (100_000, usize::MAX), (70_000, 3)];
        for (is_vectored, (most, polls)) in
            cases.into_iter().flat_map(|it| [(true, it), (false, it)])
        {
            let mut io = Slow::new(most, is_vectored);
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
    #[test]
    fn a_request_with_a_long_piece_is_one_write() {
        let url = Url::parse("http://h/v1").expect("a URL");
        let heads = Heads::new(&url, &Route::Direct, &HeaderMap::new());
        let pieces: [Piece; 3] = ["a".into(), "x".repeat(LARGE).into(), "b".into()];
        let mut io = Slow::new(usize::MAX, true);
        let mut sending = Sending::new(heads.of(Expect::Json), &pieces);
        let mut cx = Context::from_waker(Waker::noop());

        while !sending.is_over {
            sending.poll(&mut io, &mut cx);
        }

        assert_eq!(io.writes, 1);
        assert!(io.taken.ends_with(b"xb"));
    }
}
