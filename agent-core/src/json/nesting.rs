//! How deep a JSON text stands that comes in pieces.

/// What is open behind the pieces so far. It looks at brackets and quotes alone: a text that is
/// closed may still be no JSON, but what is open is not whole.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// True once the outermost bracket was closed.
    closed: bool,
}

impl Nesting {
    /// Reads over the next piece.
    pub(crate) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                b'{' | b'[' if !self.in_text => self.depth += 1,
                b'}' | b']' if !self.in_text => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                }
                _ => {}
            }
        }
    }

    /// True if the outermost bracket was closed, and none is open.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed && self.depth == 0
    }
}
