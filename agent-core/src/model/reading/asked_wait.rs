//! How long a server asks to wait, in the body of its error.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::model::http::span;

/// Fields that hold seconds. The last two are what Codex and Hugging Face call it:
/// <https://github.com/openai/codex/blob/main/codex-rs/core/src/client.rs>,
/// <https://huggingface.co/docs/api-inference/detailed_parameters>
const SECONDS: [&str; 4] = [
    "retry_after",
    "retry_after_seconds",
    "resets_in_seconds",
    "estimated_time",
];

/// What stands before the time in words.
const BEFORE: [&str; 5] = [
    "try again in ",
    "try again after ",
    "retry after ",
    "retry in ",
    "please wait ",
];

/// The wait that fields of an error tell.
pub(super) fn of(error: &Value) -> Option<Duration> {
    let seconds = || {
        let mut seconds = SECONDS.iter().filter_map(|key| error.get(key)?.as_f64());
        seconds.find_map(|it| Duration::try_from_secs_f64(it).ok())
    };
    google(error).or_else(seconds).or_else(|| openrouter(error))
}

/// The wait that a message tells in words, for example `Please try again in 14m24.5s.`
pub(super) fn told(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    let rest = BEFORE.iter().find_map(|words| message.split_once(words));
    span::beginning(rest?.1)
}

/// In the details of an error, for example `"14.5s"`.
///
/// `google.rpc.RetryInfo`: <https://cloud.google.com/apis/design/errors#error_details>
fn google(error: &Value) -> Option<Duration> {
    let mut details = error.get("details")?.as_array()?.iter();
    let delay = details.find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The headers that a gateway has no room for, in the error itself.
/// <https://github.com/dirge-code/dirge/pull/719>
fn openrouter(error: &Value) -> Option<Duration> {
    let headers = error.pointer("/metadata/headers")?;
    let text = |name: &str| headers.get(name)?.as_str();
    let reset = text("X-RateLimit-Reset")?;
    (text("X-RateLimit-Remaining")? == "0").then(|| span::until(reset, SystemTime::now()))?
}
