//! Spans and fields by the OpenTelemetry conventions for generative AI, version 0.1.0.
//!
//! Every run is a span `invoke_agent`, every model call in it a span `chat`, every tool call
//! a span `execute_tool`; a run inside a tool call is a child of that call. They are `tracing` spans: without a subscriber they cost next to
//! nothing, and an exporter is the program's own choice. What is said is recorded only if the
//! agent is [told to](crate::agent::ReactAgentBuilder::record_content). Metrics are events; see
//! [`metrics`].
//!
//! Source: `open-telemetry/semantic-conventions-genai`, spans and attributes of v0.1.0.

pub(crate) mod content;
pub mod metrics;

use tokio::time::Instant;
use tracing::{Level, Span, event_enabled, field::Empty, info_span};

use crate::message::ToolCall;

/// The version of the conventions that the names follow.
pub const CONVENTIONS: &str = "0.1.0";
/// Field: what a span is, for example `execute_tool`.
pub const OPERATION_NAME: &str = "gen_ai.operation.name";
/// Field: the agent's name.
pub const AGENT_NAME: &str = "gen_ai.agent.name";
/// Field: the thread's id.
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
/// Field: the provider of the model.
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
/// Field: the model that was asked.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// Field: tokens of the request.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Field: tokens of the reply.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Field: tokens of the request that were read from the provider's cache.
pub const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Field: tokens of the reply that were reasoning.
pub const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
/// Field: seconds until the first piece of a streamed reply.
pub const TIME_TO_FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
/// Field, only on request: what the model was sent.
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// Field, only on request: what the model replied.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// Field, only on request: the arguments of a tool call.
pub const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// Field, only on request: the result of a tool call, as the model reads it.
pub const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
/// Field: why the reply ended.
pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Field: the tool's name.
pub const TOOL_NAME: &str = "gen_ai.tool.name";
/// Field: the call's id.
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// Field: what went wrong, in one word.
pub const ERROR_TYPE: &str = "error.type";

/// The span of one run: a child of the span that it begins in, or else of the call `around` it,
/// which a tool may have left for a task of its own.
pub(crate) fn run_span(
    around: Option<&Span>,
    agent: &str,
    run_id: &str,
    thread_id: Option<&str>,
) -> Span {
    let span = || {
        info_span!(
            "invoke_agent",
            otel.name = %format_args!("invoke_agent {agent}"),
            "gen_ai.operation.name" = "invoke_agent",
            "gen_ai.agent.name" = agent,
            "gen_ai.conversation.id" = thread_id,
            run_id,
            outcome = Empty,
            "error.type" = Empty,
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
        )
    };
    match around {
        Some(call) if Span::current().is_none() => call.in_scope(span),
        _ => span(),
    }
}

/// The span of one model call, a child of the run's.
pub(crate) fn chat_span(parent: &Span, model: &str, provider: &str, streaming: bool) -> Span {
    info_span!(
        parent: parent,
        "chat",
        otel.name = %format_args!("chat {model}"),
        otel.kind = "client",
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = provider,
        "gen_ai.request.model" = model,
        "gen_ai.request.stream" = streaming,
        "gen_ai.usage.input_tokens" = Empty,
        "gen_ai.usage.output_tokens" = Empty,
        "gen_ai.usage.cache_read.input_tokens" = Empty,
        "gen_ai.usage.reasoning.output_tokens" = Empty,
        "gen_ai.response.time_to_first_chunk" = Empty,
        "gen_ai.response.finish_reasons" = Empty,
        "gen_ai.input.messages" = Empty,
        "gen_ai.output.messages" = Empty,
        "error.type" = Empty,
    )
}

/// The span of one tool call, a child of the run's.
pub(crate) fn tool_span(parent: &Span, call: &ToolCall) -> Span {
    info_span!(
        parent: parent,
        "execute_tool",
        otel.name = %format_args!("execute_tool {}", call.name),
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = call.name(),
        "gen_ai.tool.call.id" = call.id(),
        "gen_ai.tool.type" = "function",
        "gen_ai.tool.call.arguments" = Empty,
        "gen_ai.tool.call.result" = Empty,
        outcome = Empty,
        duration_ms = Empty,
        "error.type" = Empty,
    )
}

/// Writes down how a tool call ended that began at `started`.
pub(crate) fn tool_ended(span: &Span, tool: &str, outcome: &str, started: Instant) {
    let is_measured = event_enabled!(target: metrics::TARGET, Level::TRACE);
    if span.is_disabled() && !is_measured {
        return;
    }
    let duration = started.elapsed();
    span.record("outcome", outcome);
    span.record(
        "duration_ms",
        u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
    );
    let error = Some(outcome).filter(|outcome| !["ok", "interrupted"].contains(outcome));
    if let Some(error) = error {
        span.record(ERROR_TYPE, error);
    }
    metrics::tool_ended(tool, error, duration);
}
