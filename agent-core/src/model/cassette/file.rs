//! The file of a cassette: its version, and what was asked and answered, in order.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CassetteError;
use super::scrub::{masked, scrub, scrub_json};
use crate::message::{AssistantMessage, OpaquePart, ToolCall};
use crate::model::{ChatResponse, FinishReason, ModelError, ModelErrorKind, Usage};
use crate::secrets::Secrets;

const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
pub(super) struct File {
    version: u64,
    /// What the recorded model said of itself: it decides how an agent asks.
    #[serde(default)]
    pub(super) holds_json_schema: bool,
    /// The same of the models that requests named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) holds_json_schema_of: BTreeMap<String, bool>,
    pub(super) exchanges: Vec<Exchange>,
}

/// The version alone: the rest of another one may look different.
#[derive(Deserialize)]
struct Version {
    version: u64,
}

/// One request by its meaning, and the reply to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) request: Value,
    pub(super) reply: Reply,
}

/// A reply. It is whole, or ended with an error.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Reply {
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    opaque: Vec<Opaque>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Opaque {
    provider: String,
    json: String,
    after_text: usize,
    after_calls: usize,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Tokens {
    input: u64,
    output: u64,
    total: u64,
    #[serde(default)]
    cached_input: u64,
    #[serde(default)]
    cache_write_input: u64,
    #[serde(default)]
    reasoning: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Failure {
    kind: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed_generation: Option<String>,
    retryable: bool,
}

pub(super) fn read(path: &Path) -> Result<File, CassetteError> {
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => CassetteError::Missing { path: path.into() },
        _ => CassetteError::Unreadable {
            path: path.into(),
            source,
        },
    })?;
    let malformed = |source| CassetteError::Malformed {
        path: path.into(),
        source,
    };
    let Version { version } = serde_json::from_str(&text).map_err(malformed)?;
    if version != VERSION {
        return Err(CassetteError::Version {
            path: path.into(),
            version,
        });
    }
    serde_json::from_str(&text).map_err(malformed)
}

/// Writes all of it, or leaves what was there.
pub(super) fn write(
    path: &Path,
    (holds_json_schema, holds_json_schema_of): (bool, BTreeMap<String, bool>),
    exchanges: Vec<Exchange>,
) -> Result<(), CassetteError> {
    let unwritable = |source| CassetteError::Unwritable {
        path: path.into(),
        source,
    };
    let file = File {
        version: VERSION,
        holds_json_schema,
        holds_json_schema_of,
        exchanges,
    };
    let text = serde_json::to_string_pretty(&file).map_err(|error| unwritable(error.into()))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, text + "\n").map_err(unwritable)?;
    fs::rename(&beside, path).map_err(unwritable)
}

impl Exchange {
    pub(super) fn new(mut request: Value, mut reply: Reply, secrets: &Secrets) -> Self {
        scrub(&mut request, secrets);
        reply.scrub(secrets);
        Self { request, reply }
    }
}

impl Reply {
    /// What was said, and how it ended.
    pub(super) fn new(message: &AssistantMessage, end: Result<&ChatResponse, &ModelError>) -> Self {
        let call = |call: &ToolCall| Call {
            id: call.id.to_string(),
            name: call.name.to_string(),
            arguments: call.arguments.to_string(),
            extra: call.extra.clone(),
        };
        let opaque = |part: &OpaquePart| Opaque {
            provider: part.provider.clone().into_owned(),
            json: part.json.clone(),
            after_text: part.after_text,
            after_calls: part.after_calls,
        };
        let response = end.ok();
        let usage = response.and_then(|response| response.usage);
        Self {
            text: message.text.clone(),
            reasoning: message.reasoning.clone(),
            tool_calls: message.tool_calls.iter().map(call).collect(),
            opaque: message.opaque.iter().map(opaque).collect(),
            finish_reason: response.map(|response| response.finish_reason.to_string()),
            usage: usage.map(|usage| Tokens {
                input: usage.input_tokens,
                output: usage.output_tokens,
                total: usage.total_tokens,
                cached_input: usage.cached_input_tokens,
                cache_write_input: usage.cache_write_input_tokens,
                reasoning: usage.reasoning_tokens,
            }),
            error: end.err().map(Failure::of),
        }
    }

    fn scrub(&mut self, secrets: &Secrets) {
        self.text = scrub_json(&self.text, secrets);
        self.reasoning = self.reasoning.as_deref().map(|it| masked(it, secrets));
        for call in &mut self.tool_calls {
            call.arguments = scrub_json(&call.arguments, secrets);
            let mut extra = Value::Object(std::mem::take(&mut call.extra));
            scrub(&mut extra, secrets);
            if let Value::Object(extra) = extra {
                call.extra = extra;
            }
        }
        for part in &mut self.opaque {
            part.json = scrub_json(&part.json, secrets);
        }
        if let Some(error) = &mut self.error {
            error.message = masked(&error.message, secrets);
            error.code = error.code.as_deref().map(|code| masked(code, secrets));
            let written = error.failed_generation.as_deref();
            error.failed_generation = written.map(|text| scrub_json(text, secrets));
        }
    }

    /// The reply again, whole or as far as it came, and the error it ended with.
    pub(super) fn restored(self) -> (ChatResponse, Option<ModelError>) {
        let calls = self.tool_calls.into_iter().map(|call| {
            // No call has empty arguments but one that only began.
            let restored = match call.arguments.is_empty() {
                true => ToolCall::begun(call.id.into(), call.name.into()),
                false => ToolCall::new(call.id, call.name, call.arguments),
            };
            restored.with_extra(call.extra)
        });
        let opaque = self.opaque.into_iter().map(|part| {
            OpaquePart::new(part.provider, part.json).after(part.after_text, part.after_calls)
        });
        let message = AssistantMessage::new(self.text, self.reasoning, calls.collect())
            .with_opaque(opaque.collect());
        let usage = self.usage.map(|tokens| {
            let mut usage = Usage::new(tokens.input, tokens.output);
            usage.total_tokens = tokens.total;
            usage.cached_input_tokens = tokens.cached_input;
            usage.cache_write_input_tokens = tokens.cache_write_input;
            usage.reasoning_tokens = tokens.reasoning;
            usage
        });
        let reason = self.finish_reason.unwrap_or_default();
        let response = ChatResponse::new(message, finish_reason(reason), usage);
        (response, self.error.map(Failure::restored))
    }
}

fn finish_reason(word: String) -> FinishReason {
    let known = [
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::ContentFilter,
        FinishReason::ReturnDirect,
    ];
    let found = known.into_iter().find(|reason| reason.to_string() == word);
    found.unwrap_or(FinishReason::Other(word))
}

impl Failure {
    fn of(error: &ModelError) -> Self {
        let wait = error.retry_after().map(|wait| wait.as_millis());
        Self {
            kind: error.kind().word().to_owned(),
            message: error.message().to_owned(),
            status: error.status(),
            code: error.code().map(ToOwned::to_owned),
            retry_after_ms: wait.map(|wait| u64::try_from(wait).unwrap_or(u64::MAX)),
            failed_generation: error.failed_generation().map(ToOwned::to_owned),
            retryable: error.is_retryable(),
        }
    }

    fn restored(self) -> ModelError {
        let kind = ModelErrorKind::of_word(&self.kind).unwrap_or(ModelErrorKind::ProviderError);
        let mut error = ModelError::new(kind, self.message).with_retryable(self.retryable);
        if let Some(status) = self.status {
            error = error.with_status(status);
        }
        if let Some(code) = self.code {
            error = error.with_code(code);
        }
        if let Some(wait) = self.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(wait));
        }
        if let Some(text) = self.failed_generation {
            error = error.with_failed_generation(text);
        }
        error
    }
}
