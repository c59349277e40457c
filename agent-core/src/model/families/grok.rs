//! The models of xAI.
//!
//! Unless its name says `non-reasoning`, one "does not support parameter stop":
//! <https://github.com/lidge-jun/opencodex/issues/5278>, <https://github.com/langchain-ai/langchain/pull/38335>.

use super::Refused;

/// What a model of this name, in lower case, refuses; `None` if it is none of these.
pub(super) fn refused(name: &str) -> Option<Refused> {
    let name = name.strip_prefix("xai.").unwrap_or(name);
    let is_old = name.strip_prefix("grok-")?.starts_with(['1', '2', 'b']);
    Some(Refused {
        stop: !is_old && !name.contains("non-reasoning"),
        ..Refused::default()
    })
}
