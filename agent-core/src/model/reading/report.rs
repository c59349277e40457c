//! Reads what a server reports of an error, in one of the many shapes servers give it. Pure.

use std::time::Duration;

use serde_json::Value;

use super::quoted::without_lone_surrogates;
use crate::model::{ModelError, ModelErrorKind};

/// What a server says about its error.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) message: String,
    code: Option<String>,
    /// The `type` of the error.
    class: String,
    failed_generation: Option<String>,
    /// How long to wait, where one provider says it in the body.
    wait: Option<Duration>,
}

/// Under which names servers say what went wrong, and its code.
const MESSAGES: [&str; 6] = [
    "message",
    "msg",
    "error_msg",
    "status_msg",
    "Message",
    "detail",
];
const CODES: [&str; 3] = ["code", "error_code", "status_code"];

impl Report {
    /// What this text reports; `None` if it is no JSON, or holds no error.
    pub(super) fn of(text: &str) -> Option<Self> {
        let body = serde_json::from_str(&without_lone_surrogates(text)).ok()?;
        Self::find(&body)
    }

    /// A report of these words and nothing else.
    pub(super) fn in_words(message: String) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }

    /// Finds the error in one of the shapes servers give it.
    fn find(body: &Value) -> Option<Self> {
        let body = only(body)?;
        let found = ["error", "errors"].into_iter().find_map(|key| {
            let error = only(body.get(key)?)?;
            says_something(error).then_some(error)
        });
        let found = found
            .or_else(|| of_choice(body))
            .or_else(|| of_message(body));
        if found.is_none()
            && let Some(special) = of_base(body).or_else(|| of_groq(body))
        {
            return Some(special);
        }
        match found {
            Some(Value::String(text)) => Some(Self {
                message: text.clone(),
                ..Self::read(body)
            }),
            Some(error @ Value::Object(_)) => {
                let mut report = Self::read(error);
                if report.message.is_empty() {
                    report.message = error.to_string();
                }
                Some(report)
            }
            other => {
                let says_error = [("object", "error"), ("type", "error"), ("status", "error")];
                let says_error = says_error
                    .iter()
                    .any(|(key, word)| body.get(key).and_then(Value::as_str) == Some(word))
                    || body.get("success") == Some(&Value::Bool(false))
                    || other.is_some();
                let report = Self::read(body);
                let says_so = !report.message.is_empty() && !report.is_success();
                (says_error || says_so).then_some(report)
            }
        }
    }

    fn read(error: &Value) -> Self {
        let word = |key: &str| match error.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let structured = |key: &&str| {
            let value = error.get(key)?;
            (value.is_object() || value.is_array()).then(|| value.to_string())
        };
        let message = MESSAGES
            .iter()
            .find_map(|key| word(key).filter(|said| !said.is_empty()))
            .or_else(|| MESSAGES.iter().find_map(structured))
            .unwrap_or_default();
        // One provider names its errors by a status in words.
        let status = || error.get("status")?.as_str().map(str::to_owned);
        // What the provider behind a gateway said.
        let raw = error.pointer("/metadata/raw").and_then(Value::as_str);
        Self {
            message: match raw.filter(|raw| !raw.is_empty()) {
                Some(raw) => format!("{message}: {raw}"),
                None => message,
            },
            code: CODES.iter().find_map(|key| word(key)),
            class: word("type")
                .or_else(|| word("error_type"))
                .or_else(status)
                .filter(|class| class != "error")
                .unwrap_or_default(),
            failed_generation: word("failed_generation"),
            wait: wait(error),
        }
    }

    /// True if one of the words stands in the code or the type, which some servers write in
    /// capitals, or each word with one.
    fn says(&self, words: &[&str]) -> bool {
        let code = self.code.as_deref().unwrap_or_default();
        let said = format!("{code} {}", self.class).to_ascii_lowercase();
        words.iter().any(|word| said.contains(word))
    }

    /// True for news whose code says that nothing went wrong.
    fn is_success(&self) -> bool {
        matches!(self.code.as_deref(), Some("0" | "200"))
    }

    /// The status that the code is, or is one of: some servers number their errors from 40001 and
    /// 50001 on. Any other number is a word of the server's own.
    /// <https://github.com/lm-sys/FastChat/blob/main/fastchat/constants.py>
    fn number(&self) -> Option<u16> {
        let code = self.code.as_deref()?.parse().ok()?;
        match code {
            100..600 => Some(code),
            40_000..60_000 => Some(code / 100),
            _ => None,
        }
    }

    /// The kind that code and type tell, whatever the status.
    pub(super) fn kind(&self) -> Option<ModelErrorKind> {
        if self.says(&["tool_use_failed"]) {
            Some(ModelErrorKind::ToolGenerationFailed)
        } else if self.number() == Some(429) || self.says(&RATE_LIMITED) || self.is_final() {
            Some(ModelErrorKind::RateLimited)
        } else {
            None
        }
    }

    /// A kind of error that no waiting helps, though its status says otherwise.
    fn is_final(&self) -> bool {
        self.says(&["insufficient_quota", "exceeded_current_quota"])
    }

    fn is_passing(&self) -> bool {
        let words = [
            "server_error",
            "api_error",
            "overloaded",
            "timeout",
            "unavailable",
            "internal",
            "deadline_exceeded",
        ];
        self.number().is_some_and(|code| code == 408 || code >= 500) || self.says(&words)
    }

    /// Adds what is reported to an error of its kind.
    pub(super) fn onto(self, mut error: ModelError) -> ModelError {
        if self.is_final() {
            error = error.with_retryable(false);
        }
        // One API has codes, another one names its errors by their type alone.
        let class = Some(self.class).filter(|class| !class.is_empty());
        if let Some(code) = self.code.or(class) {
            error = error.with_code(code);
        }
        if let Some(text) = self.failed_generation {
            error = error.with_failed_generation(text);
        }
        match self.wait {
            Some(wait) if error.retry_after().is_none() => error.with_retry_after(wait),
            _ => error,
        }
    }
}

/// What tells too many requests, in small letters.
const RATE_LIMITED: [&str; 4] = ["rate_limit", "ratelimit", "throttl", "resource_exhausted"];

/// The wait in the details of an error, for example `"14.5s"`.
///
/// `google.rpc.RetryInfo`: <https://cloud.google.com/apis/design/errors#error_details>
fn wait(error: &Value) -> Option<Duration> {
    let mut details = error.get("details")?.as_array()?.iter();
    let delay = details.find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The value, or the first of a list of them.
fn only(value: &Value) -> Option<&Value> {
    match value {
        Value::Array(list) => list.first(),
        value => Some(value),
    }
}

/// False for an error that is there to say that there is none.
fn says_something(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) => true,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => list.iter().any(says_something),
        Value::Object(fields) => fields.values().any(says_something),
    }
}

/// The error that one provider puts where the answer should be.
fn of_choice(body: &Value) -> Option<&Value> {
    let mut choices = body.get("choices")?.as_array()?.iter();
    choices.find_map(|choice| choice.get("error").filter(|error| error.is_object()))
}

/// Why one provider broke an answer off: <https://console.groq.com/docs/api-reference>.
fn of_groq(body: &Value) -> Option<Report> {
    let error = body.pointer("/x_groq/error")?;
    let message = match error {
        Value::String(text) => text.clone(),
        error => error.to_string(),
    };
    says_something(error).then(|| Report {
        message,
        class: "server_error".to_owned(),
        ..Report::default()
    })
}

/// What one provider says beside an answer, with a code that is 0 if all is well.
/// <https://platform.minimax.io/docs/api-reference/errorcode>
fn of_base(body: &Value) -> Option<Report> {
    let base = body.get("base_resp")?;
    let class = match base.get("status_code")?.as_i64()? {
        0 => return None,
        1002 | 1039 | 1041 => "rate_limit_error",
        1000 | 1001 | 1013 | 1024 | 1033 => "server_error",
        _ => "",
    };
    Some(Report {
        class: class.to_owned(),
        ..Report::read(base)
    })
}

/// The error of an event that a gateway for Claude Code writes, under another name than Anthropic's.
fn of_message(body: &Value) -> Option<&Value> {
    let is_error = body.get("type")? == "error";
    body.get("message").filter(|it| is_error && it.is_object())
}

/// The error an answer with a good status holds, if it holds one.
pub(crate) fn reported(text: &str) -> Option<ModelError> {
    let report = Report::of(text)?;
    let kind = report.kind().unwrap_or(ModelErrorKind::ProviderError);
    let message = match &*report.message {
        "" => "the provider reported an error".to_owned(),
        message => format!("the provider reported an error: {message}"),
    };
    let mut error = ModelError::new(kind, message);
    if kind == ModelErrorKind::ProviderError {
        error = error.with_retryable(report.is_passing());
    }
    Some(report.onto(error))
}
