//! Metrics by the OpenTelemetry conventions for generative AI, as `tracing` events.
//!
//! Each is an event of level `TRACE` and target [`TARGET`] whose fields begin with
//! `histogram.` or `monotonic_counter.`, the form that the metrics layer of `tracing-opentelemetry`
//! turns into instruments. Durations are seconds. Without a subscriber nothing is computed.

use std::time::Duration;

use tracing::{Level, event};

/// The target of the events that are metrics.
pub const TARGET: &str = "agent_core::metrics";

/// What a model call was: the attributes of its metrics.
pub(crate) struct Inference<'a> {
    pub(crate) model: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) error: Option<&'a str>,
}

/// A model call ended. `first` is when the first piece of a streamed reply came.
pub(crate) fn inference_ended(call: &Inference<'_>, whole: Duration, first: Option<Duration>) {
    event!(target: TARGET, Level::TRACE, {
        "histogram.gen_ai.client.inference.duration" = whole.as_secs_f64(),
        "histogram.gen_ai.client.inference.time_to_first_chunk" = first.map(|first| first.as_secs_f64()),
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = call.provider,
        "gen_ai.request.model" = call.model,
        "error.type" = call.error,
    });
}

/// What a model call used; tokens read from the cache are part of the input, those of reasoning
/// part of the output.
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
    pub(crate) reasoning: u64,
}

pub(crate) fn inference_used(call: &Inference<'_>, tokens: &Tokens) {
    event!(target: TARGET, Level::TRACE, {
        "monotonic_counter.gen_ai.client.inference.usage.input_tokens" = tokens.input,
        "monotonic_counter.gen_ai.client.inference.usage.output_tokens" = tokens.output,
        "monotonic_counter.gen_ai.client.inference.usage.cache_read.input_tokens" = tokens.cached,
        "monotonic_counter.gen_ai.client.inference.usage.reasoning.output_tokens" = tokens.reasoning,
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = call.provider,
        "gen_ai.request.model" = call.model,
    });
}

/// A tool call ended.
pub(crate) fn tool_ended(tool: &str, error: Option<&str>, duration: Duration) {
    event!(target: TARGET, Level::TRACE, {
        "histogram.gen_ai.execute_tool.duration" = duration.as_secs_f64(),
        "gen_ai.tool.name" = tool,
        "error.type" = error,
    });
}

/// A run ended after so many model calls and tool calls.
pub(crate) fn agent_ended(
    agent: &str,
    error: Option<&str>,
    duration: Duration,
    (model_calls, tool_calls): (u32, u32),
) {
    event!(target: TARGET, Level::TRACE, {
        "histogram.gen_ai.invoke_agent.duration" = duration.as_secs_f64(),
        "histogram.gen_ai.invoke_agent.inference_calls" = u64::from(model_calls),
        "histogram.gen_ai.invoke_agent.tool_calls" = u64::from(tool_calls),
        "gen_ai.agent.name" = agent,
        "error.type" = error,
    });
}
