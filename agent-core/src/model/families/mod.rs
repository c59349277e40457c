//! What models refuse or do that others of their API do not, told by their names.
//!
//! The names are those of four makers, also behind the prefix of a gateway
//! (`anthropic/claude-opus-5`, `us.anthropic.claude-opus-4-7`). A name that is not known here refuses
//! nothing.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

mod claude;
mod gpt;
mod grok;
mod kimi;

pub(super) use claude::is_claude;

use claude::Claude;

/// The settings that a model refuses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Refused {
    /// `temperature` and `top_p`.
    pub(super) sampling: bool,
    /// The same, where its maker serves it.
    pub(super) sampling_at_home: bool,
    pub(super) stop: bool,
    pub(super) parallel_tool_calls: bool,
    /// A `tool_choice` that makes it call.
    pub(super) forcing: bool,
    /// Tools, unless it is told not to reason.
    pub(super) reasoning_beside_tools: bool,
    /// Thoughts behind what is not as it was when they were thought.
    pub(super) moved_thoughts: bool,
}

/// What this model refuses if it is told to reason with this effort, or is told nothing of it.
pub(super) fn refused(model: &str, effort: Option<&str>) -> Refused {
    if is_claude(model) {
        let claude = Claude::of(&model.to_ascii_lowercase());
        return claude.map_or_else(Refused::default, |it| it.refused());
    }
    let refused = match own(model).as_bytes() {
        [b'g' | b'G' | b'o' | b'O' | b'k' | b'K' | b'x' | b'X', ..] => {
            let name = own(model).to_ascii_lowercase();
            gpt::refused(&name, effort)
                .or_else(|| grok::refused(&name))
                .or_else(|| kimi::refused(&name))
        }
        _ => None,
    };
    refused.unwrap_or_default()
}

/// The name without that of a gateway in front, and without the mark of one that a user trained.
fn own(model: &str) -> &str {
    let own = model.rsplit('/').next().unwrap_or(model);
    own.strip_prefix("ft:").unwrap_or(own)
}

/// True if this model thinks although nobody tells it to, and its thoughts count as output.
pub(super) fn thinks_unasked(model: &str) -> bool {
    Claude::of(&model.to_ascii_lowercase()).is_some_and(|it| it.thinks_unasked())
}

/// True if the text of this model cannot be held to a JSON Schema.
pub(super) fn holds_no_schema(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    match Claude::of(&name) {
        Some(claude) => claude.holds_no_schema(),
        None => gpt::holds_no_schema(own(&name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_out_of_a_name() {
        let none = Refused::default();
        let sampling = Refused {
            sampling: true,
            ..none
        };
        let forced = Refused {
            forcing: true,
            ..sampling
        };
        let bound = Refused {
            moved_thoughts: true,
            ..forced
        };
        let stop = Refused { stop: true, ..none };
        let fixed = Refused {
            sampling_at_home: true,
            ..none
        };
        let reasons = Refused {
            stop: true,
            ..sampling
        };
        let series = Refused {
            parallel_tool_calls: true,
            ..reasons
        };
        let newest = Refused {
            reasoning_beside_tools: true,
            ..reasons
        };
        for (model, expected) in [
            ("claude-3-7-sonnet-20250219", none),
            ("claude-opus-4-20250514", none),
            ("anthropic.claude-opus-4-6-v1:0", none),
            ("claude-haiku-4-5-20251001", none),
            ("us.anthropic.claude-opus-4-7-v1:0", sampling),
            ("anthropic/claude-4.7-opus", sampling),
            ("Claude-Sonnet-5", sampling),
            ("claude-sonnet-5-5", bound),
            ("claude-fable-5", forced),
            ("us.anthropic.claude-fable-5-1", bound),
            ("claude-mythos-preview", forced),
            ("claude-latest", none),
            ("gpt-4.1-mini", none),
            ("gpt-4o", none),
            ("gpt-35-turbo", none),
            ("gpt-oss-120b", none),
            ("openai/gpt-5-mini", reasons),
            ("gpt-5-chat-latest", none),
            ("gpt-5.2", none),
            ("gpt-5.1-codex", reasons),
            ("gpt-5.5", newest),
            ("gpt-5.6-luna", newest),
            ("gpt-6-sol", newest),
            ("gpt-6.2-astra", reasons),
            ("xai/grok-4.6", stop),
            ("xai.grok-code-fast-1", stop),
            ("grok-4-fast-non-reasoning", none),
            ("grok-2", none),
            ("moonshotai/kimi-k2.5", fixed),
            ("k3-256k", fixed),
            ("kimi-k2-turbo-preview", none),
            ("o3", series),
            ("o4-mini-2025-04-16", series),
            ("ollama", none),
            ("qwen3", none),
        ] {
            assert_eq!(refused(model, None), expected, "{model}");
        }
        let unasked = [
            "claude-sonnet-5",
            "claude-mythos-preview",
            "claude-opus-4-8",
            "gpt-6",
        ];
        assert_eq!(unasked.map(thinks_unasked), [true, true, false, false]);
        let schemas = [
            ("claude-3-7-sonnet-20250219", false),
            ("anthropic.claude-sonnet-4-20250514-v1:0", false),
            ("claude-opus-4-1-20250805", true),
            ("claude-latest", true),
            ("openai/gpt-4-turbo", false),
            ("gpt-35-turbo", false),
            ("gpt-4", false),
            ("gpt-4o-2024-05-13", false),
            ("gpt-4o-2024-08-06", true),
            ("gpt-4.1", true),
            ("o1-mini-2024-09-12", false),
            ("o1", true),
            ("ft:gpt-3.5-turbo:us", false),
            ("qwen3", true),
        ];
        for (model, holds) in schemas {
            assert_eq!(holds_no_schema(model), !holds, "{model}");
        }
        assert_eq!(refused("gpt-5.2", Some("low")), reasons);
        assert_eq!(refused("gpt-5.6", Some("none")), none);
        assert_eq!(refused("ft:o4-mini-2025-04-16:us", None), series);
    }
}
