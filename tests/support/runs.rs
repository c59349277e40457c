//! What tests read off a run, and put into it.

use agent_core::agent::{ModelInterceptor, ModelNext, RunStream};
use agent_core::event::EventKind;
use agent_core::message::ToolResult;
use agent_core::model::{
    ChatModel, ChatOptions, ChatRequest, ChatResponse, ModelDelta, ModelError, ScriptedModel,
};
use agent_core::{AgentError, AgentEvent, BoxFuture, BoxStream, Message, RunOutput};

/// An interceptor that asks this model instead.
#[derive(Debug)]
pub struct Asks(pub &'static str);

impl ModelInterceptor for Asks {
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        let other = ChatOptions::new().model(self.0);
        let options = request.options().merged(&other);
        next.run(request.with_options(options))
    }
}

/// A scripted model whose provider holds text to a schema, but for that of the model `old`.
#[derive(Debug, Clone)]
pub struct Holds(pub ScriptedModel);

impl ChatModel for Holds {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        self.0.stream(request)
    }

    fn holds_json_schema(&self, options: &ChatOptions) -> bool {
        options.model.as_deref() != Some("old")
    }
}

/// Reads a run to its end: its events, and the error if it ended with one.
pub async fn events(mut stream: RunStream) -> (Vec<AgentEvent>, Option<AgentError>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// The output of the run that these events tell of.
///
/// # Panics
///
/// If the last event is not `RunFinished`.
#[must_use]
pub fn output(events: &[AgentEvent]) -> RunOutput {
    match events.last().map(|event| &event.kind) {
        Some(EventKind::RunFinished(output)) => output.clone(),
        other => panic!("the run ends with {other:?}"),
    }
}

/// The ids of the calls, in the order in which they ended.
#[must_use]
pub fn ended(events: &[AgentEvent]) -> Vec<String> {
    let id = |event: &AgentEvent| match &event.kind {
        EventKind::ToolFinished { result, .. } => Some(result.call_id().to_owned()),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

/// Every tool result of a history, in order.
#[must_use]
pub fn results(messages: &[Message]) -> Vec<ToolResult> {
    let results = messages.iter().flat_map(Message::tool_results);
    results.cloned().collect()
}

/// The call id and the text of every tool result, in order.
#[must_use]
pub fn result_texts(messages: &[Message]) -> Vec<(String, String)> {
    let results = results(messages).into_iter();
    results
        .map(|result| (result.call_id().to_owned(), result.text()))
        .collect()
}

/// The texts of a request's messages, in order.
#[must_use]
pub fn texts(request: &ChatRequest) -> Vec<String> {
    request.messages().map(Message::text).collect()
}

/// The names of the tools that a request offers, in order.
#[must_use]
pub fn offered(request: &ChatRequest) -> Vec<String> {
    let definitions = request.tools().definitions().iter();
    definitions
        .map(|definition| definition.name().to_owned())
        .collect()
}
