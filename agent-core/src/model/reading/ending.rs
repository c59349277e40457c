//! Why an answer ended, in the words of servers.
//!
//! One table for both APIs, because gateways tell the words of what is behind them. The sources
//! beside OpenAI's and Anthropic's own pages:
//! <https://api-docs.deepseek.com/api/create-chat-completion> ("insufficient_system_resource"),
//! <https://docs.bigmodel.cn/api-reference> ("sensitive", "network_error",
//! "model_context_window_exceeded"), <https://ai.google.dev/api/generate-content#FinishReason>,
//! <https://docs.vllm.ai/en/latest/api/vllm/v1/engine> ("abort").

use crate::model::{FinishReason, ModelError, ModelErrorKind};

const CALLS: [&str; 4] = ["tool_calls", "tool_call", "tool_use", "function_call"];

const LENGTH: [&str; 4] = [
    "length",
    "max_tokens",
    "model_length",
    "model_context_window_exceeded",
];

const FILTERED: [&str; 9] = [
    "content_filter",
    "safety",
    "refusal",
    "sensitive",
    "recitation",
    "prohibited_content",
    "blocklist",
    "spii",
    "guardrail_intervened",
];

/// The server broke off: what there is of the answer is no answer.
const BROKEN_OFF: [&str; 4] = [
    "error",
    "network_error",
    "insufficient_system_resource",
    "abort",
];

/// What a server's word means; no word is as good as `stop`.
pub(crate) fn finish_reason(word: Option<&str>, has_calls: bool) -> FinishReason {
    let word = word.filter(|word| !word.is_empty()).unwrap_or("stop");
    // One provider says behind a colon what was filtered.
    let first = word.split(':').next().unwrap_or_default();
    let is = |words: &[&str]| words.iter().any(|other| other.eq_ignore_ascii_case(first));
    let ends = is(&["stop", "end_turn", "stop_sequence"]);
    // Some servers do not tell that they wait for results.
    if is(&CALLS) || (ends && has_calls) {
        FinishReason::ToolCalls
    } else if ends {
        FinishReason::Stop
    } else if is(&LENGTH) {
        FinishReason::Length
    } else if is(&FILTERED) {
        FinishReason::ContentFilter
    } else {
        FinishReason::Other(word.to_owned())
    }
}

/// True if the model may have had more to say: also after a word that nobody knows.
pub(crate) fn is_cut(reason: &FinishReason) -> bool {
    match reason {
        FinishReason::Length | FinishReason::ContentFilter => true,
        FinishReason::Other(word) => !["eos", "eos_token"].contains(&&**word),
        _ => false,
    }
}

/// True if the word says that the server failed.
pub(crate) fn is_broken_off(word: &str) -> bool {
    BROKEN_OFF.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// The error an answer is that the server broke off.
pub(crate) fn broken_off(word: &str) -> ModelError {
    let code = match word {
        "error" => "server_error",
        word => word,
    };
    let message = match word {
        "error" => "an error".to_owned(),
        word => format!("`{word}`"),
    };
    ModelError::new(
        ModelErrorKind::ProviderError,
        format!("the provider reported an error: the answer ended with {message}"),
    )
    .with_code(code)
    .with_retryable(true)
}
