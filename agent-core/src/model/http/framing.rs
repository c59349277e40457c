//! Where a body ends, and what of its bytes are the body itself. Pure.
//!
//! The rules are those of RFC 9112, sections 6 and 7.1.

use super::head::Malformed;

/// Most bytes of what stands beside a chunk's size, and of all that stands behind the last one.
const MAX_EXTRA: u32 = 16 * 1024;

/// How the rest of a body is told from what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes are left.
    Length(u64),
    Chunked(Chunk),
    UntilClose,
    Over,
}

/// What comes next of a body that is sent in chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    Size {
        size: u64,
        has_digit: bool,
    },
    /// What a server may say beside a size, after a blank or a semicolon.
    Beside {
        size: u64,
        seen: u32,
    },
    SizeEnd {
        size: u64,
    },
    Data {
        left: u64,
    },
    DataEnd {
        has_return: bool,
    },
    Trailer {
        seen: u32,
        is_line_empty: bool,
    },
    /// What was read before it is still good.
    Broken,
}

/// What became of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    /// So many bytes at the front are of the body.
    pub(super) data: usize,
    /// So many were looked at; the others follow the body.
    pub(super) used: usize,
}

impl Framing {
    pub(super) fn chunked() -> Self {
        Self::Chunked(Chunk::size())
    }

    pub(super) fn is_over(self) -> bool {
        self == Self::Over
    }

    /// Moves what is of the body to the front of `bytes`. What cannot be read is an error once
    /// nothing before it is left to be handed out.
    pub(super) fn take(&mut self, bytes: &mut [u8]) -> Result<Taken, Malformed> {
        let all = bytes.len();
        match self {
            Self::UntilClose => Ok(Taken {
                data: all,
                used: all,
            }),
            Self::Over => Ok(Taken { data: 0, used: 0 }),
            Self::Length(left) => {
                let data = usize::try_from(*left).map_or(all, |left| left.min(all));
                *left -= data as u64;
                if *left == 0 {
                    *self = Self::Over;
                }
                Ok(Taken { data, used: data })
            }
            Self::Chunked(chunk) => {
                let (taken, is_over) = chunk.take(bytes);
                if is_over {
                    *self = Self::Over;
                } else if *chunk == Chunk::Broken && taken.data == 0 {
                    return Err(Malformed::Chunk);
                }
                Ok(taken)
            }
        }
    }

    /// True if the connection may end here.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Self::UntilClose | Self::Over)
    }
}

impl Chunk {
    fn size() -> Self {
        Self::Size {
            size: 0,
            has_digit: false,
        }
    }

    /// True beside what was taken if the last chunk and its trailers are over.
    fn take(&mut self, bytes: &mut [u8]) -> (Taken, bool) {
        let (mut data, mut used) = (0, 0);
        while used < bytes.len() {
            if let Self::Data { left } = *self {
                let here = bytes.len() - used;
                let length = usize::try_from(left).map_or(here, |left| left.min(here));
                bytes.copy_within(used..used + length, data);
                data += length;
                used += length;
                *self = match left - length as u64 {
                    0 => Self::DataEnd { has_return: false },
                    left => Self::Data { left },
                };
                continue;
            }
            match self.after(bytes[used]) {
                Some(next) => *self = next,
                None => {
                    return (
                        Taken {
                            data,
                            used: used + 1,
                        },
                        true,
                    );
                }
            }
            if *self == Self::Broken {
                break;
            }
            used += 1;
        }
        (Taken { data, used }, false)
    }

    /// What follows a byte that is no data; nothing, after the last.
    fn after(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Size { size, .. }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                match size.checked_mul(16) {
                    Some(size) => Self::Size {
                        size: size + u64::from(digit),
                        has_digit: true,
                    },
                    None => Self::Broken,
                }
            }
            (
                Self::Size {
                    size,
                    has_digit: true,
                },
                b'\r',
            ) => Self::SizeEnd { size },
            (
                Self::Size {
                    size,
                    has_digit: true,
                },
                b';' | b' ' | b'\t',
            ) => Self::Beside { size, seen: 0 },
            (Self::Beside { size, .. }, b'\r') => Self::SizeEnd { size },
            (Self::Beside { size, seen }, _) if byte != b'\n' && seen < MAX_EXTRA => Self::Beside {
                size,
                seen: seen + 1,
            },
            (Self::SizeEnd { size: 0 }, b'\n') => Self::Trailer {
                seen: 0,
                is_line_empty: true,
            },
            (Self::SizeEnd { size }, b'\n') => Self::Data { left: size },
            (Self::DataEnd { has_return: false }, b'\r') => Self::DataEnd { has_return: true },
            (Self::DataEnd { has_return: true }, b'\n') => Self::size(),
            (
                Self::Trailer {
                    is_line_empty: true,
                    ..
                },
                b'\n',
            ) => return None,
            (
                Self::Trailer {
                    seen,
                    is_line_empty,
                },
                _,
            ) if seen < MAX_EXTRA => Self::Trailer {
                seen: seen + 1,
                is_line_empty: byte == b'\n' || (is_line_empty && byte == b'\r'),
            },
            _ => Self::Broken,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body in `pieces`, how many bytes follow it, and whether it is over.
    fn read<'a>(
        mut framing: Framing,
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(String, usize, bool), Malformed> {
        let (mut body, mut behind) = (Vec::new(), 0);
        for piece in pieces {
            let mut piece = piece.to_vec();
            let taken = framing.take(&mut piece)?;
            body.extend_from_slice(&piece[..taken.data]);
            behind += piece.len() - taken.used;
        }
        let body = String::from_utf8(body).expect("text");
        Ok((body, behind, framing.is_over()))
    }

    #[test]
    fn chunks_are_the_same_however_they_are_cut() {
        for (text, body, behind) in [
            ("3\r\nabc\r\n0\r\n\r\n", "abc", 0),
            (
                "3;name=\"v\"\r\nabc\r\nA \r\n0123456789\r\n00\r\n\r\nHTTP",
                "abc0123456789",
                4,
            ),
            ("1\r\na\r\n0\r\nx-end: y\r\nz: 1\r\n\r\n", "a", 0),
        ] {
            let whole = Ok((body.to_owned(), behind, true));
            for cut in 0..text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let read = read(Framing::chunked(), [first, second].into_iter());
                assert_eq!(read, whole, "{text:?} cut at {cut}");
            }
            assert_eq!(read(Framing::chunked(), text.as_bytes().chunks(1)), whole);
        }
    }

    #[test]
    fn what_stands_before_a_broken_chunk_is_handed_out_first() {
        let mut framing = Framing::chunked();
        let mut bytes = *b"2\r\nab\r\n-1\r\n";
        let taken = framing.take(&mut bytes).expect("the data before it");
        assert_eq!(&bytes[..taken.data], b"ab");
        assert_eq!(
            framing.take(&mut bytes[taken.used..]),
            Err(Malformed::Chunk)
        );
    }

    #[test]
    fn a_size_that_two_would_read_differently_is_refused() {
        for text in [
            "\r\n",
            "0x3\r\nabc",
            "+3\r\nabc",
            " 3\r\nabc",
            "3\nabc",
            "3\r\nabcd\r\n",
            "3 \n",
            "10000000000000000\r\n",
        ] {
            let read = read(Framing::chunked(), text.as_bytes().chunks(1));
            assert_eq!(read, Err(Malformed::Chunk), "{text:?}");
        }
    }

    #[test]
    fn what_has_no_end_is_not_read_for_ever() {
        for start in ["1;", "0\r\nx: "] {
            let text = start.to_owned() + &"y".repeat(2 * MAX_EXTRA as usize);
            let read = read(Framing::chunked(), [text.as_bytes()].into_iter());
            assert_eq!(read, Err(Malformed::Chunk), "{start}");
        }
    }

    #[test]
    fn a_length_ends_where_it_says() {
        let read = read(Framing::Length(3), b"abcde".chunks(2));
        assert_eq!(read, Ok(("abc".to_owned(), 2, true)));
    }
}
