//! The models of OpenAI.
//!
//! By <https://learn.microsoft.com/en-us/azure/foundry/openai/how-to/reasoning>: a model that reasons
//! takes no `temperature` and no `top_p`; `stop` is "not supported with latest reasoning models"
//! (OpenAI's API reference), and "Unsupported parameter: 'parallel_tool_calls'" is said by the o-series.
//! GPT-5.1 to 5.4 reason only if told to, all others unless told not to. From 5.5 on, "Function tools with
//! reasoning_effort are not supported […] in /v1/chat/completions. To use function tools, use
//! /v1/responses or set reasoning_effort to 'none'", also where no effort is set:
//! <https://github.com/jeffdafoe/llm-memory-api/pull/178>, <https://github.com/BerriAI/litellm/pull/34569>.
//! Astra takes no `none`, so it is asked as it is, and refuses: <https://github.com/genkit-ai/genkit/pull/6303>.
//!
//! Of older ones, "'response_format' of type 'json_schema' is not supported with this model":
//! <https://github.com/crewAIInc/crewAI/pull/6357>, <https://github.com/web-infra-dev/midscene/issues/259>.

use super::Refused;

/// What a model of this name, in lower case, refuses; `None` if it is none of these.
pub(super) fn refused(name: &str, effort: Option<&str>) -> Option<Refused> {
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

/// True if its text cannot be held to a JSON Schema.
pub(super) fn holds_no_schema(name: &str) -> bool {
    let olds = ["gpt-3", "gpt-4-", "o1-mini", "o1-preview"];
    matches!(name, "gpt-4" | "gpt-4o-2024-05-13" | "chatgpt-4o-latest")
        || olds.iter().any(|old| name.starts_with(old))
}
