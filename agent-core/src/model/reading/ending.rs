//! Why an answer ended, in the words of servers.
//!
//! One table for both APIs, because gateways tell the words of what is behind them. The sources
//! beside OpenAI's and Anthropic's own pages:
//! <https://api-docs.deepseek.com/api/create-chat-completion> ("insufficient_system_resource"),
//! <https://docs.bigmodel.cn/api-reference> ("sensitive", "network_error",
//! "model_context_window_exceeded"), <https://ai.google.dev/api/generate-content#FinishReason>,
//! <https://docs.vllm.ai/en/latest/api/vllm/v1/engine> ("abort"),
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>
//! ("content_filtered"), <https://docs.cohere.com/reference/chat> ("error_toxic", "error_limit").
//! Gateways made of Vercel's SDK part the words by `-`.

use crate::model::{FinishReason, ModelError, ModelErrorKind};

const CALLS: [&str; 4] = ["tool_calls", "tool_call", "tool_use", "function_call"];

const LENGTH: [&str; 6] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "error_limit",
    "model_length",
    "model_context_window_exceeded",
];

const FILTERED: [&str; 15] = [
    "content_filter",
    "content_filtered",
    "error_toxic",
    "safety",
    "refusal",
    "sensitive",
    "recitation",
    "prohibited_content",
    "blocklist",
    "spii",
    "language",
    "image_safety",
    "image_prohibited_content",
    "image_recitation",
    "guardrail_intervened",
];

/// The server broke off: what there is of the answer is no answer.
const BROKEN_OFF: [&str; 4] = [
    "error",
    "network_error",
    "insufficient_system_resource",
    "abort",
];

/// Words of servers for an end that nothing forced. What they tell of is `Other`.
const WHOLE: [&str; 7] = [
    "eos",
    "eos_token",
    "end",
    "complete",
    "completed",
    "done",
    "normal",
];

/// How an answer ends whose call the provider itself could not read, among other words.
/// <https://github.com/googleapis/python-genai/issues/1836>,
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>
const MALFORMED: [&str; 3] = [
    "malformed_function_call",
    "malformed_tool_use",
    "malformed_model_output",
];

/// What a server's word means; no word is as good as `stop`.
pub(crate) fn finish_reason(word: Option<&str>, has_calls: bool) -> FinishReason {
    let word = word.filter(|word| !word.is_empty()).unwrap_or("stop");
    // One provider says behind a colon what was filtered.
    let first = word.split(':').next().unwrap_or_default();
    let is = |words: &[&str]| is_one_of(first, words);
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
        FinishReason::Other(word) => !is_one_of(word, &WHOLE),
        _ => false,
    }
}

/// True if the word says that the server failed.
pub(crate) fn is_broken_off(word: &str) -> bool {
    is_one_of(word, &BROKEN_OFF)
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    let letter = |byte: u8| match byte {
        b'-' => b'_',
        byte => byte.to_ascii_lowercase(),
    };
    let mut words = words.iter();
    words.any(|other| other.bytes().eq(word.bytes().map(letter)))
}

/// The error an answer is whose call the provider itself could not read, whatever is left of it.
pub(crate) fn malformed(word: &str) -> Option<ModelError> {
    // Mostly the word is too short to hold one.
    let said = (word.len() > "malformed".len()).then(|| word.to_ascii_lowercase())?;
    MALFORMED.iter().any(|it| said.contains(it)).then(|| {
        let message = format!("the answer ended with `{word}`");
        ModelError::new(ModelErrorKind::ToolGenerationFailed, message)
    })
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
