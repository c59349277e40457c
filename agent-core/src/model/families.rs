//! What models refuse or do that others of their API do not, told by their names.
//!
//! The names are those of OpenAI, Anthropic, xAI and Moonshot, also behind the prefix of a gateway
//! (`anthropic/claude-opus-5`, `us.anthropic.claude-opus-4-7`). A name that is not known here refuses
//! nothing.
//!
//! OpenAI, by <https://learn.microsoft.com/en-us/azure/foundry/openai/how-to/reasoning>: a model that
//! reasons takes no `temperature` and no `top_p`; `stop` is "not supported with latest reasoning models"
//! (OpenAI's API reference), and "Unsupported parameter: 'parallel_tool_calls'" is said by the o-series.
//! GPT-5.1 to 5.4 reason only if told to, all others unless told not to. From 5.5 on, "Function tools with
//! reasoning_effort are not supported […] in /v1/chat/completions. To use function tools, use
//! /v1/responses or set reasoning_effort to 'none'", also where no effort is set:
//! <https://github.com/jeffdafoe/llm-memory-api/pull/178>, <https://github.com/BerriAI/litellm/pull/34569>.
//! Astra takes no `none`, so it is asked as it is, and refuses: <https://github.com/genkit-ai/genkit/pull/6303>.
//!
//! Grok, unless its name says `non-reasoning`, "does not support parameter stop":
//! <https://github.com/lidge-jun/opencodex/issues/5278>, <https://github.com/langchain-ai/langchain/pull/38335>.
//!
//! Kimi since K2.5: "invalid temperature: only 1 is allowed for this model", and `top_p` likewise, but only by
//! Moonshot itself: <https://github.com/google-gemini/gemini-cli/pull/18977>.
//!
//! Claude, by <https://platform.claude.com/docs/en/about-claude/models/migration-guide>: from 4.7 on,
//! "`temperature` is deprecated for this model", and so is `top_p`; from 5.5 on, and by models that always
//! think, forced tool use is refused:
//! <https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5>. From 5.1 on, a thought is
//! bound to what came before it, and behind anything else "the API rejects the request with a 400 error or
//! drops the invalid blocks, whichever you choose":
//! <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>. From 5 on, a Claude thinks unless
//! it is told not to, and its thoughts count as output:
//! <https://platform.claude.com/docs/en/models/sonnet-5/migration-guide>.

#![cfg_attr(
    not(all(feature = "openai", feature = "anthropic")),
    allow(dead_code, reason = "one client needs all of it")
)]

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

/// True if a Claude goes by this name.
pub(super) fn is_claude(model: &str) -> bool {
    let mut parts = model.as_bytes().windows("claude".len());
    parts.any(|part| part.eq_ignore_ascii_case(b"claude"))
}

/// What this model refuses if it is told to reason with this effort, or is told nothing of it.
pub(super) fn refused(model: &str, effort: Option<&str>) -> Refused {
    let own = model.rsplit('/').next().unwrap_or(model);
    if is_claude(model) {
        let claude = Claude::of(&model.to_ascii_lowercase());
        return claude.map_or_else(Refused::default, |it| it.refused());
    }
    match own.as_bytes() {
        [b'g' | b'G' | b'o' | b'O' | b'k' | b'K' | b'x' | b'X', ..] => {
            let name = own.to_ascii_lowercase();
            openai(&name, effort)
                .or_else(|| grok(&name))
                .or_else(|| kimi(&name))
        }
        _ => None,
    }
    .unwrap_or_default()
}

fn grok(name: &str) -> Option<Refused> {
    let name = name.strip_prefix("xai.").unwrap_or(name);
    let is_old = name.strip_prefix("grok-")?.starts_with(['1', '2', 'b']);
    Some(Refused {
        stop: !is_old && !name.contains("non-reasoning"),
        ..Refused::default()
    })
}

fn kimi(name: &str) -> Option<Refused> {
    let name = name.strip_prefix("kimi-").unwrap_or(name);
    let is_new = name.starts_with("k2.") || name.starts_with("k3") || name == "for-coding";
    is_new.then_some(Refused {
        sampling_at_home: true,
        ..Refused::default()
    })
}

/// True if this model thinks although nobody tells it to, and its thoughts count as output.
pub(super) fn thinks_unasked(model: &str) -> bool {
    let claude = Claude::of(&model.to_ascii_lowercase());
    claude.is_some_and(|it| it.always_thinks || it.is_since((5, 0)))
}

/// True if the text of this model cannot be held to a JSON Schema. A Claude can be since 4.1:
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>. Older ones of OpenAI:
/// "'response_format' of type 'json_schema' is not supported with this model", see
/// <https://github.com/crewAIInc/crewAI/pull/6357>, <https://github.com/web-infra-dev/midscene/issues/259>.
pub(super) fn holds_no_schema(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    if let Some(claude) = Claude::of(&name) {
        return claude.version.is_some_and(|version| version < (4, 1));
    }
    let own = name.rsplit('/').next().unwrap_or_default();
    let own = own.strip_prefix("ft:").unwrap_or(own);
    let olds = ["gpt-3", "gpt-4-", "o1-mini", "o1-preview"];
    matches!(own, "gpt-4" | "gpt-4o-2024-05-13" | "chatgpt-4o-latest")
        || olds.iter().any(|old| own.starts_with(old))
}

/// What the name of a Claude tells.
struct Claude {
    always_thinks: bool,
    version: Option<(u32, u32)>,
}

impl Claude {
    /// Reads a name in lower case.
    fn of(name: &str) -> Option<Self> {
        let (_, name) = name.split_once("claude")?;
        let words = || name.split(|char: char| !char.is_ascii_alphanumeric());
        let number = |word: &str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
        let mut numbers = words().skip_while(|word| number(word).is_none());
        let major = numbers.next().and_then(number);
        Some(Self {
            always_thinks: words().any(|word| matches!(word, "fable" | "mythos")),
            version: major.map(|major| (major, numbers.next().and_then(number).unwrap_or(0))),
        })
    }

    fn is_since(&self, least: (u32, u32)) -> bool {
        self.version.is_some_and(|version| version >= least)
    }

    fn refused(&self) -> Refused {
        Refused {
            sampling: self.always_thinks || self.is_since((4, 7)),
            forcing: self.always_thinks || self.is_since((5, 5)),
            moved_thoughts: self.is_since((5, 1)),
            ..Refused::default()
        }
    }
}

fn openai(name: &str, effort: Option<&str>) -> Option<Refused> {
    let first = |text: &str| {
        text.split(|char: char| !char.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    let version: (u32, u32) = match name.strip_prefix("gpt-") {
        Some(rest) => {
            let minor = rest.split_once('.').and_then(|(_, rest)| first(rest));
            (first(rest)?, minor.unwrap_or(0))
        }
        None => {
            let is_of_series = name
                .strip_prefix('o')
                .is_some_and(|rest| first(rest).is_some());
            return is_of_series.then_some(Refused {
                sampling: true,
                stop: true,
                parallel_tool_calls: true,
                ..Refused::default()
            });
        }
    };
    // "gpt-35-turbo" is the name of 3.5 at Azure.
    let may_reason = (5..10).contains(&version.0) && !name.contains("chat");
    let tells_itself = !(1..5).contains(&version.1) || version.0 > 5 || name.contains("codex");
    let reasons = may_reason && effort.map_or(tells_itself, |effort| effort != "none");
    Some(Refused {
        sampling: reasons,
        stop: reasons,
        reasoning_beside_tools: may_reason
            && version >= (5, 5)
            && effort.is_none()
            && !name.contains("astra"),
        ..Refused::default()
    })
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
    }
}
