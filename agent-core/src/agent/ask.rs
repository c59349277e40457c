//! One request to the model: its pieces to the events, what it took to the metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::Instant;
use tracing::Span;

use super::early::{self, Watch};
use super::scope::RunScope;
use super::{origin, output};
use crate::boxed::BoxStream;
use crate::event::EventKind;
use crate::graph::State;
use crate::message::Message;
use crate::model::{Accumulator, ChatModel, ChatRequest, ChatResponse, ModelDelta, ModelError};
use crate::telemetry::{self, content, metrics};

/// One turn of the model, in which it may be asked several times.
pub(super) struct ModelTurn {
    pub(super) scope: Arc<RunScope>,
    /// The span of the turn.
    pub(super) span: Span,
    /// The state that calls of the reply read which start early, if they may.
    for_early: Option<State>,
    asked: AtomicU32,
}

impl ModelTurn {
    pub(super) fn new(scope: Arc<RunScope>, span: Span, state: State) -> Self {
        Self {
            // Not shared without need: who changes a shared history copies it.
            for_early: early::is_wanted(&scope).then_some(state),
            scope,
            span,
            asked: AtomicU32::new(0),
        }
    }

    /// Asks a model itself, and tells what it writes.
    pub(super) async fn ask(
        &self,
        model: &Arc<dyn ChatModel>,
        request: ChatRequest,
    ) -> Result<ChatResponse, ModelError> {
        let scope = &self.scope;
        let request = origin::readable(scope, model.as_ref(), request)?;
        let request = match scope.way {
            Some(_) => output::told_to(model.as_ref(), request),
            None => request,
        };
        let attempt = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        if attempt > 1 {
            scope.sink.send(|| EventKind::Retried { attempt }).await;
        }
        let named = request.options().model.clone();
        let named = named.as_deref().unwrap_or_else(|| model.name());
        self.record(telemetry::INPUT_MESSAGES, request.messages());
        let started = Instant::now();
        let mut first = None;
        let reply = match scope.streaming {
            true => {
                let deltas = model.stream(request);
                let for_early = self.for_early.as_ref();
                // Boxed, as whoever does not stream would have room for it too.
                Box::pin(streamed(scope, for_early, deltas, (started, &mut first))).await
            }
            false => plain(scope, model.chat(request)).await,
        };
        let reply = reply.map_err(|error| error.masked(&scope.context.secrets));
        if let Some(first) = first {
            let seconds = first.as_secs_f64();
            self.span.record(telemetry::TIME_TO_FIRST_CHUNK, seconds);
        }
        if scope.config.record_content
            && let Ok(response) = &reply
        {
            let message = Message::from(response.message.clone());
            self.record(telemetry::OUTPUT_MESSAGES, [&message]);
        }
        measure(
            (named, model.provider()),
            &reply,
            (started.elapsed(), first),
        );
        if reply.is_ok() {
            origin::answered(scope, model.as_ref());
        }
        reply
    }

    /// Writes messages into the span, if the agent is told to.
    fn record<'a>(&self, field: &'static str, messages: impl IntoIterator<Item = &'a Message>) {
        if self.scope.config.record_content && !self.span.is_disabled() {
            let secrets = &self.scope.context.secrets;
            let text = secrets.mask(&content::messages(messages));
            self.span.record(field, &*text);
        }
    }
}

async fn plain(
    scope: &RunScope,
    reply: impl Future<Output = Result<ChatResponse, ModelError>>,
) -> Result<ChatResponse, ModelError> {
    let response = reply.await?;
    let message = &response.message;
    if let Some(reasoning) = &message.reasoning {
        let kind = || EventKind::ReasoningDelta(reasoning.clone());
        scope.sink.send(kind).await;
    }
    if !message.text.is_empty() {
        let kind = || EventKind::TextDelta(message.text.clone());
        scope.sink.send(kind).await;
    }
    Ok(response)
}

async fn streamed(
    scope: &Arc<RunScope>,
    for_early: Option<&State>,
    mut deltas: BoxStream<'static, Result<ModelDelta, ModelError>>,
    (started, first): (Instant, &mut Option<Duration>),
) -> Result<ChatResponse, ModelError> {
    // What an earlier try of this reply began comes to nothing.
    scope.keep_early(None);
    let mut watch = for_early.map(|state| Watch::new(scope, state));
    let mut reply = Accumulator::new();
    while let Some(delta) = deltas.next().await {
        let delta = delta?;
        // A stream that is always ready must not keep the run from its end.
        tokio::task::coop::consume_budget().await;
        first.get_or_insert_with(|| started.elapsed());
        if let Some(watch) = &mut watch {
            watch.see(&delta);
        }
        let event = match scope.sink.is_read() {
            true => event_of(&delta),
            false => None,
        };
        reply.push(delta);
        if let Some(event) = event {
            scope.sink.send(|| event).await;
        }
    }
    let response = reply.finish()?;
    scope.keep_early(watch.map(Watch::end));
    Ok(response)
}

/// What a reader is told of a piece of the reply.
fn event_of(delta: &ModelDelta) -> Option<EventKind> {
    match delta {
        ModelDelta::Text(text) => Some(EventKind::TextDelta(text.clone())),
        ModelDelta::Reasoning(text) => Some(EventKind::ReasoningDelta(text.clone())),
        ModelDelta::ToolCallFragment {
            index,
            name,
            arguments,
            ..
        } => Some(EventKind::ToolCallDelta {
            index: *index,
            name: name.clone(),
            arguments: arguments.clone(),
        }),
        _ => None,
    }
}

fn measure(
    (model, provider): (&str, &str),
    reply: &Result<ChatResponse, ModelError>,
    (whole, first): (Duration, Option<Duration>),
) {
    let call = metrics::Inference {
        model,
        provider,
        error: reply.as_ref().err().map(|error| error.kind().word()),
    };
    metrics::inference_ended(&call, whole, first);
    if let Some(usage) = reply.as_ref().ok().and_then(|response| response.usage) {
        let tokens = metrics::Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached: usage.cached_input_tokens,
            reasoning: usage.reasoning_tokens,
        };
        metrics::inference_used(&call, &tokens);
    }
}
