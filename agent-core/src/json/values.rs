//! How many values stand in a JSON text.

use super::end_of_string;

/// How many lists, objects and further members and items there are: as values they take far more
/// room than the bytes they are written with.
pub(crate) fn count_values(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut count, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1).map_or(bytes.len(), |(end, _)| end),
            b',' | b'[' | b'{' => count += 1,
            _ => {}
        }
        at += 1;
    }
    count
}
