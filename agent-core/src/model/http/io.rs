//! A connection as bytes, whatever lies between.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Most bytes that are taken from a connection at once.
const READ: usize = 16 * 1024;

/// A connection, in TLS or not.
pub(super) trait Io: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Io for T {}

/// Takes in what the connection has, at most [`READ`] bytes; none at its end.
///
/// Nothing is held for a connection that only waits, so the bytes go over the stack.
pub(super) fn receive(
    io: &mut dyn Io,
    cx: &mut Context<'_>,
    bytes: &mut Vec<u8>,
) -> Poll<io::Result<usize>> {
    let mut space = [const { MaybeUninit::uninit() }; READ];
    let mut space = ReadBuf::uninit(&mut space);
    ready!(Pin::new(io).poll_read(cx, &mut space))?;
    bytes.extend_from_slice(space.filled());
    Poll::Ready(Ok(space.filled().len()))
}
