//! Server-sent events: bytes in, events out. Pure; knows no HTTP and no JSON.
//!
//! Framing as in the HTML standard, "Parsing an event stream" and "Interpreting an event
//! stream". Bytes may be cut anywhere, also inside a character or between CR and LF.

use std::borrow::Cow;

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
/// that the stream leaves unfinished is no event, as the standard says; [`SseParser::rest`] has it.
/// A field `error` is read as data: older llama.cpp servers write what went wrong there.
/// <https://github.com/ggml-org/llama.cpp/pull/16109>
/// So is JSON without a field: some gateways write an error as it is into a stream that has begun.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    /// The line so far; whole lines that come in one piece never get here.
    line: Vec<u8>,
    /// The data lines of the event so far, each with a line feed behind it. An event of one line
    /// that comes in one piece never gets here.
    data: Vec<u8>,
    /// True if the last byte was a CR, so that an LF belongs to it.
    after_cr: bool,
    /// True in the lines of an object or a list without a field.
    is_bare: bool,
    /// True once the first line is over, where alone a byte order mark may stand.
    started: bool,
}

enum Line<'a> {
    Blank,
    Data(&'a [u8]),
    Other,
}

impl SseParser {
    /// Takes bytes in, and hands out the data of each event they complete.
    pub(crate) fn push<E: From<EventTooLarge>>(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        // The data of the event so far, if it is one line of these bytes.
        let mut only = None;
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                add(&mut self.line, bytes, b"")?;
                break;
            };
            self.after_cr = bytes[end] == b'\r';
            let line = &bytes[..end];
            bytes = &bytes[end + 1..];
            if !self.line.is_empty() {
                add(&mut self.line, line, b"")?;
                let line = std::mem::take(&mut self.line);
                match self.read(&line) {
                    Line::Blank => self.end_event(only.take(), &mut event)?,
                    Line::Data(value) => add(&mut self.data, value, b"\n")?,
                    Line::Other => {}
                }
                continue;
            }
            match (self.read(line), only.take()) {
                (Line::Blank, first) => self.end_event(first, &mut event)?,
                (Line::Data(value), None) if self.data.is_empty() => only = Some(value),
                (Line::Data(value), first) => {
                    first.map_or(Ok(()), |first| add(&mut self.data, first, b"\n"))?;
                    add(&mut self.data, value, b"\n")?;
                }
                (Line::Other, first) => only = first,
            }
        }
        only.map_or(Ok(()), |only| add(&mut self.data, only, b"\n"))?;
        Ok(())
    }

    fn read<'a>(&mut self, mut line: &'a [u8]) -> Line<'a> {
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        let Some(first) = line.first() else {
            self.is_bare = false;
            return Line::Blank;
        };
        self.is_bare |= matches!(first, b'{' | b'[');
        if self.is_bare && matches!(first, b'{' | b'[' | b'}' | b']' | b'"' | b' ' | b'\t') {
            return Line::Data(line);
        }
        let field = |name: &[u8]| line.strip_prefix(name);
        match field(b"data").or_else(|| field(b"error")) {
            Some([]) => Line::Data(&[]),
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => {
                // JSON of many lines under one field.
                self.is_bare |= matches!(value, [b'{' | b'[']);
                Line::Data(value)
            }
            _ => Line::Other,
        }
    }

    /// The data of the event that the stream left unfinished.
    pub(crate) fn rest(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        let mut data = std::mem::take(&mut self.data);
        if let Line::Data(last) = self.read(&line) {
            data.extend_from_slice(last);
        }
        text_of(&data).into_owned()
    }

    fn end_event<E: From<EventTooLarge>>(
        &mut self,
        only: Option<&[u8]>,
        event: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(only) = only {
            if only.len() >= MAX_BYTES {
                return Err(EventTooLarge.into());
            }
            return event(&text_of(only));
        }
        // The last line feed is not part of the data.
        if self.data.pop().is_some() {
            let data = std::mem::take(&mut self.data);
            event(&text_of(&data))?;
            self.data = data;
            self.data.clear();
        }
        Ok(())
    }
}

/// The text of bytes, with U+FFFD for what is no character. Mostly there is none, and to find
/// that out is much faster than to look for it.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Keeps what is not whole yet.
fn add(kept: &mut Vec<u8>, bytes: &[u8], end: &[u8]) -> Result<(), EventTooLarge> {
    if kept.len() + bytes.len() + end.len() > MAX_BYTES {
        return Err(EventTooLarge);
    }
    kept.extend_from_slice(bytes);
    kept.extend_from_slice(end);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for piece in pieces {
            let pushed = parser.push(piece, |event| {
                events.push(event.to_owned());
                Ok::<_, EventTooLarge>(())
            });
            pushed.unwrap();
        }
        events
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
    fn an_unfinished_event_is_none_and_its_data_are_the_rest() {
        assert!(read_anyhow(b"data: a\n").is_empty());

        let mut parser = SseParser::default();
        assert!(is_taken(&mut parser, b"data: a\ndata: b"));
        assert_eq!(parser.rest(), "a\nb");
    }

    #[test]
    fn json_without_a_field_is_data() {
        let text = b"data: a\n\n{\n  \"error\": 1\n}\n\n  b\ndata: c\n\n";
        assert_eq!(read_anyhow(text), ["a", "{\n  \"error\": 1\n}", "c"]);
    }

    #[test]
    fn an_error_field_is_data() {
        assert_eq!(read_anyhow(b"error: a\n\nerrors: b\n\n"), ["a"]);
    }

    fn is_taken(parser: &mut SseParser, bytes: &[u8]) -> bool {
        parser.push(bytes, |_| Ok::<_, EventTooLarge>(())).is_ok()
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let mut parser = SseParser::default();
        let megabyte = vec![b'a'; 1024 * 1024];

        let taken = (0..20).take_while(|_| is_taken(&mut parser, &megabyte));
        assert_eq!(taken.count(), 16);
    }

    #[test]
    fn an_endless_event_is_an_error() {
        let mut parser = SseParser::default();
        let mut line = vec![b'a'; 1024 * 1024];
        line.splice(0..0, *b"data:");
        line.push(b'\n');

        let taken = (0..20).take_while(|_| is_taken(&mut parser, &line));
        assert!(taken.count() < 17);
    }
}
