//! How much of a long result a model reads.

use crate::message::{ContentPart, ToolResult, text_of};
use crate::state::StateUpdate;
use crate::tool::RESULT;

/// Cuts a result whose text is longer than `limit` bytes: its beginning and its end stay, and a
/// mark between them names the handle under which `update` keeps the whole.
pub(super) fn cap(result: &mut ToolResult, limit: Option<usize>, update: &mut StateUpdate) {
    let texts = result.content.iter().filter_map(ContentPart::as_text);
    let length: usize = texts.map(str::len).sum();
    let Some(limit) = limit.filter(|limit| length > *limit) else {
        return;
    };
    let whole = text_of(&result.content);
    let handle = crate::id::next(RESULT);
    let cut = cut(&whole, limit, &handle);
    result.content.retain(|part| part.as_text().is_none());
    result.content.insert(0, ContentPart::Text(cut));
    *update = std::mem::take(update).put(handle, whole.into());
}

fn cut(whole: &str, limit: usize, handle: &str) -> String {
    // No character is cut: the beginning ends before one, the end starts behind one.
    let mut end = limit / 2;
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let mut start = whole.len() - (limit - limit / 2);
    while !whole.is_char_boundary(start) {
        start += 1;
    }
    let (head, tail) = (&whole[..end], &whole[start..]);
    let left_out = whole.len() - head.len() - tail.len();
    format!(
        "{head}\n[truncated: {left_out} of {} bytes are left out here; the whole is kept as `{handle}`]\n{tail}",
        whole.len()
    )
}
