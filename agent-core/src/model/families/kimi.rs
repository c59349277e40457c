//! The models of Moonshot.
//!
//! Since K2.5: "invalid temperature: only 1 is allowed for this model", and `top_p` likewise, but only by
//! Moonshot itself: <https://github.com/google-gemini/gemini-cli/pull/18977>.

use super::Refused;

/// What a model of this name, in lower case, refuses; `None` if it is none of these.
pub(super) fn refused(name: &str) -> Option<Refused> {
    let name = name.strip_prefix("kimi-").unwrap_or(name);
    let is_new = name.starts_with("k2.") || name.starts_with("k3") || name == "for-coding";
    is_new.then_some(Refused {
        sampling_at_home: true,
        ..Refused::default()
    })
}
