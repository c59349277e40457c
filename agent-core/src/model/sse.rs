//! Server-sent events: bytes in, events out. Pure; knows no HTTP and no JSON.
//!
//! Framing as in the HTML standard, "Parsing an event stream" and "Interpreting an event
//! stream". Bytes may be cut anywhere, also inside a character or between CR and LF.

use std::collections::VecDeque;

/// Most bytes of one line, and of the data of one event.
const MAX_BYTES: usize = 16 * 1024 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A line or an event grew past what is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {MAX_BYTES} bytes")]
pub(crate) struct EventTooLarge;

/// Turns the bytes of an event stream into the data of its events.
///
/// Event names, ids and retry times are read over: no client of ours needs them. An event
/// that the stream leaves unfinished is dropped, as the standard says.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    /// The line so far; whole lines that come in one piece never get here.
    line: Vec<u8>,
    /// The data lines of the event so far, each with a line feed behind it.
    data: Vec<u8>,
    /// True if the last byte was a CR, so that an LF belongs to it.
    after_cr: bool,
    /// True once the first line is over, where alone a byte order mark may stand.
    started: bool,
}

impl SseParser {
    /// Takes bytes in and adds the data of each event they complete to `events`.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut VecDeque<String>,
    ) -> Result<(), EventTooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.keep(bytes);
            };
            self.after_cr = bytes[end] == b'\r';
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.line.is_empty() {
                self.end_line(line, events)?;
            } else {
                self.keep(line)?;
                let line = std::mem::take(&mut self.line);
                self.end_line(&line, events)?;
            }
            bytes = rest;
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        if self.line.len() + bytes.len() > MAX_BYTES {
            return Err(EventTooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(
        &mut self,
        mut line: &[u8],
        events: &mut VecDeque<String>,
    ) -> Result<(), EventTooLarge> {
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            // The last line feed is not part of the data.
            if self.data.pop().is_some() {
                events.push_back(String::from_utf8_lossy(&self.data).into_owned());
                self.data.clear();
            }
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        if field == b"data" {
            if self.data.len() + value.len() >= MAX_BYTES {
                return Err(EventTooLarge);
            }
            self.data.extend_from_slice(value);
            self.data.push(b'\n');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = SseParser::default();
        let mut events = VecDeque::new();
        for piece in pieces {
            parser.push(piece, &mut events).unwrap();
        }
        events.into()
    }

    /// Reads the text whole, byte by byte and cut once at every place: all must agree.
    fn read_anyhow(text: &[u8]) -> Vec<String> {
        let whole = read(&[text]);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
        for cut in 0..text.len() {
            assert_eq!(read(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
        whole
    }

    #[test]
    fn every_line_ending_ends_a_line() {
        assert_eq!(
            read_anyhow(b"data: a\n\ndata: b\r\rdata: c\r\n\r\n"),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn data_lines_are_joined_and_one_space_after_the_colon_is_no_data() {
        assert_eq!(read_anyhow(b"data:a\ndata:  b\ndata\n\n"), ["a\n b\n"]);
    }

    #[test]
    fn comments_other_fields_and_a_byte_order_mark_are_read_over() {
        let text = b"\xef\xbb\xbf: hi\nevent: ping\nid: 7\nretry: 10\nnonsense\ndata: a\n\n\n\n";
        assert_eq!(read_anyhow(text), ["a"]);
        assert_eq!(read_anyhow(b"\xef\xbb\xbfdata: a\n\n"), ["a"]);
    }

    #[test]
    fn characters_may_be_cut_and_bad_ones_are_replaced() {
        assert_eq!(read_anyhow("data: Blå 世界\n\n".as_bytes()), ["Blå 世界"]);
        assert_eq!(read_anyhow(b"data: a\xffb\n\n"), ["a\u{fffd}b"]);
    }

    #[test]
    fn an_unfinished_event_is_dropped() {
        assert!(read_anyhow(b"data: a\n").is_empty());
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let mut parser = SseParser::default();
        let megabyte = vec![b'a'; 1024 * 1024];

        let mut events = VecDeque::new();
        let taken = (0..20).take_while(|_| parser.push(&megabyte, &mut events).is_ok());
        assert_eq!(taken.count(), 16);
    }

    #[test]
    fn an_endless_event_is_an_error() {
        let mut parser = SseParser::default();
        let mut line = vec![b'a'; 1024 * 1024];
        line.splice(0..0, *b"data:");
        line.push(b'\n');

        let mut events = VecDeque::new();
        let taken = (0..20).take_while(|_| parser.push(&line, &mut events).is_ok());
        assert!(taken.count() < 17);
    }
}
