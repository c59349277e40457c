//! A request body of many pieces with a known length, so that none is copied.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Pieces that are sent one after the other with one `Content-Length`.
#[derive(Debug)]
pub(crate) struct Pieces {
    pieces: VecDeque<Bytes>,
    left: u64,
}

impl Pieces {
    pub(crate) fn new(pieces: Vec<Bytes>) -> Self {
        // An empty data frame would mean the end to some layers.
        let pieces: VecDeque<Bytes> = pieces.into_iter().filter(|p| !p.is_empty()).collect();
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self { pieces, left }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop_front();
        self.left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// The bytes of a shared text, without a copy.
pub(crate) fn shared(text: Arc<str>) -> Bytes {
    struct Owner(Arc<str>);

    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            self.0.as_bytes()
        }
    }

    Bytes::from_owner(Owner(text))
}

/// The text that pieces make together.
pub(crate) fn text_of(pieces: &[Bytes]) -> String {
    String::from_utf8_lossy(&pieces.concat()).into_owned()
}
