//! Reads what a server reports of an error, in one of the many shapes servers give it. Pure.
//!
//! What it means is for `classes`.

use std::time::Duration;

use serde_json::Value;

use super::asked_wait;
use super::quoted::without_lone_surrogates;
use crate::model::ModelError;

/// What a server says about its error.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) message: String,
    pub(super) code: Option<String>,
    /// The `type` of the error.
    pub(super) class: String,
    pub(super) failed_generation: Option<String>,
    /// How long to wait, where it stands in the body.
    pub(super) wait: Option<Duration>,
}

/// Under which names servers say what went wrong, and its code.
const MESSAGES: [&str; 7] = [
    "message",
    "msg",
    "error_msg",
    "status_msg",
    "Message",
    "detail",
    "faultstring",
];
const CODES: [&str; 6] = [
    "code",
    "error_code",
    "status_code",
    "statusCode",
    "Code",
    "errorcode",
];

/// Under which names an error stands. The last is Apigee's:
/// <https://cloud.google.com/apigee/docs/api-platform/fundamentals/fault-handling>
const ERRORS: [&str; 4] = ["error", "errors", "Error", "fault"];

/// Under which names a whole answer stands in another. The first is Tencent's, the other that of
/// servers made with FastAPI.
const ENVELOPES: [&str; 2] = ["Response", "detail"];

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
        let inner = ENVELOPES.iter().filter_map(|key| body.get(key));
        let body = inner
            .clone()
            .find(|it| error_of(it).is_some())
            .unwrap_or(body);
        let found = error_of(body)
            .or_else(|| of_choice(body))
            .or_else(|| of_message(body));
        if found.is_none()
            && let Some(special) = of_base(body)
                .or_else(|| of_groq(body))
                .or_else(|| of_exception(body))
        {
            return Some(special);
        }
        match found {
            Some(Value::String(text)) => {
                let said = Self::read(body);
                Some(Self {
                    // Where an error is named and told, both are said.
                    message: match &*said.message {
                        "" => text.clone(),
                        message if message == text => text.clone(),
                        message => format!("{text}: {message}"),
                    },
                    ..said
                })
            }
            Some(error @ Value::Object(_)) => {
                let mut report = Self::read(error);
                if report.message.is_empty() {
                    report.message = error.to_string();
                }
                report.wait = report.wait.or_else(|| asked_wait::of(body));
                Some(report.with_inner())
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
        let word = |key: &str| word_of(error, key);
        let structured = |key: &&str| {
            let value = error.get(key)?;
            (value.is_object() || value.is_array()).then(|| value.to_string())
        };
        let message = MESSAGES
            .iter()
            .find_map(|key| word(key).filter(|said| !said.is_empty()))
            .or_else(|| MESSAGES.iter().find_map(structured))
            .or_else(|| title(error))
            .unwrap_or_default();
        // One provider names its errors by a status in words, another by the name of their type.
        let status = || error.get("status")?.as_str().map(str::to_owned);
        let name = || {
            let name = error.get("__type")?.as_str()?;
            name.rsplit('#').next().map(str::to_owned)
        };
        let code = |from: &Value| CODES.iter().find_map(|key| word_of(from, key));
        // What the provider behind a gateway said.
        let raw = error.pointer("/metadata/raw").and_then(Value::as_str);
        Self {
            wait: asked_wait::of(error).or_else(|| asked_wait::told(&message)),
            message: match raw.filter(|raw| !raw.is_empty()) {
                Some(raw) => format!("{message}: {raw}"),
                None => message,
            },
            code: code(error).or_else(|| error.get("detail").and_then(code)),
            class: word("type")
                .or_else(|| word("error_type"))
                .or_else(name)
                .or_else(status)
                .filter(|class| class != "error")
                .unwrap_or_default(),
            failed_generation: word("failed_generation"),
        }
    }

    /// The error within a message that is the JSON of one, as gateways pass it on.
    fn with_inner(self) -> Self {
        let inner = self.message.starts_with(['{', '[']).then(|| {
            let body = serde_json::from_str(&self.message).ok()?;
            let error = error_of(&body)?;
            error.is_object().then(|| Self::read(error))
        });
        let Some(inner) = inner.flatten().filter(|inner| !inner.message.is_empty()) else {
            return self;
        };
        Self {
            code: inner.code.or(self.code),
            class: match &*inner.class {
                "" => self.class,
                _ => inner.class,
            },
            wait: inner.wait.or(self.wait),
            failed_generation: inner.failed_generation.or(self.failed_generation),
            message: inner.message,
        }
    }
}

/// What a field says, in words or as a number.
fn word_of(fields: &Value, key: &str) -> Option<String> {
    match fields.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The value, or the first of a list of them.
fn only(value: &Value) -> Option<&Value> {
    match value {
        Value::Array(list) => list.first(),
        value => Some(value),
    }
}

/// The error under one of its names; within another one, where gateways wrap it.
fn error_of(body: &Value) -> Option<&Value> {
    let error = ERRORS.iter().find_map(|key| {
        let error = only(body.get(key)?)?;
        says_something(error).then_some(error)
    })?;
    let inner = error.get("error").filter(|inner| inner.is_object());
    Some(inner.unwrap_or(error))
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

/// What an error is called that is told in the form of RFC 9457.
fn title(error: &Value) -> Option<String> {
    error.get("status")?.as_u64()?;
    error.get("title")?.as_str().map(str::to_owned)
}

/// The error that one provider puts where the answer should be.
fn of_choice(body: &Value) -> Option<&Value> {
    let mut choices = body.get("choices")?.as_array()?.iter();
    choices.find_map(|choice| choice.get("error").filter(|error| error.is_object()))
}

/// The error of a stream of Amazon's, under the name of its type:
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html>
fn of_exception(body: &Value) -> Option<Report> {
    let mut fields = body.as_object()?.iter();
    let is_error =
        |(key, value): &(&String, &Value)| key.ends_with("Exception") && value.is_object();
    fields.find(is_error).map(|(class, error)| Report {
        class: class.clone(),
        ..Report::read(error)
    })
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
    let message = match &*report.message {
        "" => "the provider reported an error".to_owned(),
        message => format!("the provider reported an error: {message}"),
    };
    let error = ModelError::new(report.kind(), message);
    Some(report.onto(error))
}
