//! A request body of many pieces with a known length, so that none is copied.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use serde_json::{Map, Value};

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

/// From this size on a piece is written by itself; shorter ones are cheaper to copy than to write.
const LARGE: usize = 64 * 1024;

/// The same bytes in few pieces: neighbours that are short become one.
///
/// A history of many turns is many short texts, and each write of a few wakes the other end.
pub(crate) fn joined(pieces: &[Bytes]) -> Vec<Bytes> {
    let is_short = |piece: &&Bytes| piece.len() < LARGE;
    let short: usize = pieces.iter().filter(is_short).map(Bytes::len).sum();
    let mut joined = Vec::new();
    let mut run = Vec::with_capacity(short);
    for piece in pieces {
        if is_short(&piece) {
            run.extend_from_slice(piece);
            continue;
        }
        joined.push(Bytes::from(std::mem::take(&mut run)));
        joined.push(piece.clone());
    }
    joined.push(Bytes::from(run));
    joined
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

/// The fields that end an object which has others before, with its closing brace.
pub(crate) fn closing(fields: Map<String, Value>) -> String {
    let text = Value::from(fields).to_string();
    match &*text {
        "{}" => text[1..].to_owned(),
        text => format!(",{}", &text[1..]),
    }
}

/// The text that pieces make together.
pub(crate) fn text_of(pieces: &[Bytes]) -> String {
    String::from_utf8_lossy(&pieces.concat()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pieces_become_one_and_long_ones_stay_shared() {
        let long = Bytes::from(vec![b'x'; LARGE]);
        let pieces = [
            Bytes::from_static(b"a"),
            Bytes::from_static(b"b"),
            long.clone(),
            Bytes::from_static(b"c"),
        ];

        let joined = joined(&pieces);

        assert_eq!(joined, [&b"ab"[..], &long, b"c"]);
        assert_eq!(joined[1].as_ptr(), long.as_ptr());
    }
}
