//! The numbers of a JSON text.

/// Where the number ends that begins at `at`; `None` if that is none.
#[inline]
pub(crate) fn end_of_number(bytes: &[u8], at: usize) -> Option<usize> {
    let is = |at: usize, is_it: fn(u8) -> bool| bytes.get(at).is_some_and(|byte| is_it(*byte));
    let at = at + usize::from(is(at, |byte| byte == b'-'));
    let mut end = match is(at, |byte| byte == b'0') {
        true => at + 1,
        false => end_of_digits(bytes, at)?,
    };
    if is(end, |byte| byte == b'.') {
        end = end_of_digits(bytes, end + 1)?;
    }
    if is(end, |byte| matches!(byte, b'e' | b'E')) {
        let has_sign = is(end + 1, |byte| matches!(byte, b'+' | b'-'));
        end = end_of_digits(bytes, end + 1 + usize::from(has_sign))?;
    }
    Some(end)
}

/// Where one digit or more end.
fn end_of_digits(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    while let Some(b'0'..=b'9') = bytes.get(end) {
        end += 1;
    }
    (end > at).then_some(end)
}
