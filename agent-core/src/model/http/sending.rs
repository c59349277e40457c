//! Writes a request: before its answer begins, and what is left of it beside the answer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};

use super::io::Io;

/// A request on its way.
pub(super) struct Sending<'a> {
    left: &'a mut [IoSlice<'a>],
    /// True once all is sent.
    pub(super) is_over: bool,
    /// What ended the writing too early; an answer may have been sent before.
    pub(super) failed: Option<io::Error>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(left: &'a mut [IoSlice<'a>]) -> Self {
        Self {
            left,
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
            Poll::Pending => {}
        }
    }

    fn write(&mut self, io: &mut dyn Io, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.left.is_empty() {
            match ready!(Pin::new(&mut *io).poll_write_vectored(cx, self.left))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => IoSlice::advance_slices(&mut self.left, written),
            }
        }
        Pin::new(io).poll_flush(cx)
    }

    /// What is still to be sent.
    pub(super) fn unsent(&self) -> Option<Unsent> {
        if self.is_over || self.failed.is_some() {
            return None;
        }
        let mut bytes = Vec::new();
        for piece in &*self.left {
            bytes.extend_from_slice(piece);
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
