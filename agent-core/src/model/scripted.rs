//! A model that answers by script, for tests and demonstrations.
//!
//! [`ScriptedModel`] takes one [`Turn`] per request, in order, and keeps every request it
//! got. It does no IO and waits only where a turn says so.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use super::{
    ChatModel, ChatRequest, ChatResponse, FinishReason, ModelDelta, ModelError, ModelErrorKind,
    Usage,
};
use crate::boxed::{BoxFuture, BoxStream};
use crate::message::{AssistantMessage, ToolCall};

/// A turn in which the model says `text`.
///
/// ```
/// use agent_core::model::{ScriptedModel, scripted::says};
///
/// let model = ScriptedModel::new([says("Beijing is colder.")]);
/// assert!(model.requests().is_empty());
/// ```
pub fn says(text: impl Into<String>) -> Turn {
    Turn {
        text: text.into(),
        ..Turn::default()
    }
}

/// A turn in which the model asks for one tool; [`Turn::and_calls`] adds more.
///
/// A string is taken as the raw text of the arguments, so that broken ones can be scripted;
/// any other value is written as JSON.
///
/// ```
/// use agent_core::model::{ScriptedModel, scripted::{calls, says}};
/// use serde_json::json;
///
/// let model = ScriptedModel::new([
///     calls("get_weather", json!({"city": "Beijing"})).and_calls("get_weather", json!({"city": "Oslo"})),
///     says("Oslo is colder."),
/// ]);
/// # drop(model);
/// ```
pub fn calls(name: impl Into<String>, arguments: Value) -> Turn {
    Turn::default().and_calls(name, arguments)
}

/// A turn in which the model fails.
pub fn fails(error: ModelError) -> Turn {
    Turn {
        end: End::Fail(error),
        ..Turn::default()
    }
}

/// A turn that never ends; only dropping the stream ends it.
pub fn hangs() -> Turn {
    Turn {
        end: End::Hang,
        ..Turn::default()
    }
}

/// What the model does with one request.
#[derive(Debug, Default)]
#[must_use]
pub struct Turn {
    text: String,
    reasoning: Option<String>,
    calls: Vec<ScriptedCall>,
    usage: Option<Usage>,
    finish_reason: Option<FinishReason>,
    pace: Option<Duration>,
    end: End,
}

#[derive(Debug)]
struct ScriptedCall {
    id: Option<String>,
    name: String,
    arguments: String,
}

#[derive(Debug, Default)]
enum End {
    #[default]
    Finish,
    Fail(ModelError),
    Hang,
}

impl Turn {
    /// Says this, before any call. A turn that fails or hangs says it first.
    pub fn and_says(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Thinks this before anything else.
    pub fn reasons(mut self, text: impl Into<String>) -> Self {
        self.reasoning = Some(text.into());
        self
    }

    /// Asks for one more tool in the same turn.
    pub fn and_calls(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push(ScriptedCall {
            id: None,
            name: name.into(),
            arguments: match arguments {
                Value::String(text) => text,
                other => other.to_string(),
            },
        });
        self
    }

    /// Gives the last call this id. Default: `call_1`, `call_2`, … over the whole script.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        if let Some(call) = self.calls.last_mut() {
            call.id = Some(id.into());
        }
        self
    }

    /// Reports these token counts. Default: none.
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Ends for this reason. Default: `ToolCalls` with calls, else `Stop`.
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.finish_reason = Some(reason);
        self
    }

    /// Waits this long before each piece of text and reasoning. Default: no wait.
    pub fn paced(mut self, pause: Duration) -> Self {
        self.pace = Some(pause);
        self
    }

    fn response(&self, ids: &mut CallIds) -> ChatResponse {
        let tool_calls: Vec<ToolCall> = self
            .calls
            .iter()
            .map(|call| {
                let id = call.id.clone().unwrap_or_else(|| ids.next());
                ToolCall::new(id, &call.name, &call.arguments)
            })
            .collect();
        let finish_reason = match &self.finish_reason {
            Some(reason) => reason.clone(),
            None if tool_calls.is_empty() => FinishReason::Stop,
            None => FinishReason::ToolCalls,
        };
        let message = AssistantMessage::new(&self.text, self.reasoning.clone(), tool_calls);
        ChatResponse::new(message, finish_reason, self.usage)
    }
}

/// Hands out call ids that no turn of the script has.
#[derive(Debug, Default)]
struct CallIds {
    given: HashSet<String>,
    count: u64,
}

impl CallIds {
    fn next(&mut self) -> String {
        loop {
            self.count += 1;
            let id = format!("call_{}", self.count);
            if !self.given.contains(&id) {
                return id;
            }
        }
    }
}

/// A model that answers by script and records what it was asked.
///
/// Clones share the script and the record. A request is recorded, and takes its turn, when
/// `stream` or `chat` is called, not when the answer is first polled; so the order of calls
/// is the order of turns. Both give the same reply. Past the end of the script the answer
/// is [`ModelErrorKind::ScriptEnded`].
///
/// ```
/// use agent_core::{Message, message::Transcript};
/// use agent_core::model::{ChatModel as _, ChatRequest, ScriptedModel, scripted::says};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let model = ScriptedModel::new([says("Hello!")]);
/// let transcript = Transcript::from_messages([Message::user("Hi")])?;
/// let response = model.chat(ChatRequest::new(transcript)?).await?;
///
/// assert_eq!(response.message.text, "Hello!");
/// assert_eq!(model.requests().len(), 1);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel(Arc<Mutex<Script>>);

struct Script {
    turns: VecDeque<Turn>,
    ids: CallIds,
    requests: Vec<ChatRequest>,
}

impl ScriptedModel {
    /// A model that answers with these turns, one per request.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        let turns: VecDeque<Turn> = turns.into_iter().collect();
        let given = turns
            .iter()
            .flat_map(|turn| &turn.calls)
            .filter_map(|call| call.id.clone())
            .collect();
        Self(Arc::new(Mutex::new(Script {
            turns,
            ids: CallIds { given, count: 0 },
            requests: Vec::new(),
        })))
    }

    /// Every request so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script().requests.clone()
    }

    /// How many turns are left.
    #[must_use]
    pub fn turns_left(&self) -> usize {
        self.script().turns.len()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, request: ChatRequest) -> (Turn, ChatResponse) {
        let mut script = self.script();
        script.requests.push(request);
        let asked = script.requests.len();
        let turn = script.turns.pop_front().unwrap_or_else(|| {
            fails(ModelError::new(
                ModelErrorKind::ScriptEnded,
                format!("request {asked} came, but the script has no turn left for it"),
            ))
        });
        let response = turn.response(&mut script.ids);
        (turn, response)
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script();
        f.debug_struct("ScriptedModel")
            .field("turns_left", &script.turns.len())
            .field("requests", &script.requests.len())
            .finish()
    }
}

impl ChatModel for ScriptedModel {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        let (turn, response) = self.take(request);
        let pace = turn.pace;
        let written = stream::iter(deltas(&turn, &response)).then(move |delta| async move {
            if let (Some(pause), ModelDelta::Text(_) | ModelDelta::Reasoning(_)) = (pace, &delta) {
                tokio::time::sleep(pause).await;
            }
            Ok(delta)
        });
        match turn.end {
            End::Finish => Box::pin(written),
            End::Fail(error) => Box::pin(written.chain(stream::iter([Err(error)]))),
            End::Hang => Box::pin(written.chain(stream::pending())),
        }
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        let (turn, response) = self.take(request);
        Box::pin(async move {
            match turn.end {
                End::Finish => Ok(response),
                End::Fail(error) => Err(error),
                End::Hang => std::future::pending().await,
            }
        })
    }

    fn name(&self) -> &str {
        "scripted"
    }

    fn provider(&self) -> &str {
        "scripted"
    }
}

/// What a turn hands out, in order. A turn that fails or hangs releases no call, because
/// its end never came.
fn deltas(turn: &Turn, response: &ChatResponse) -> Vec<ModelDelta> {
    let message = &response.message;
    let mut deltas = Vec::new();
    if let Some(reasoning) = &message.reasoning {
        deltas.extend(words(reasoning).map(|word| ModelDelta::Reasoning(word.to_owned())));
    }
    deltas.extend(words(&message.text).map(|word| ModelDelta::Text(word.to_owned())));
    for (index, call) in message.tool_calls.iter().enumerate() {
        let mut fragment = |arguments: &str| {
            deltas.push(ModelDelta::ToolCallFragment {
                index,
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: arguments.to_owned(),
            });
        };
        fragment("");
        words(&call.arguments).for_each(&mut fragment);
    }
    if matches!(turn.end, End::Finish) {
        deltas.extend(message.tool_calls.iter().cloned().map(ModelDelta::ToolCall));
        deltas.extend(response.usage.map(ModelDelta::Usage));
        deltas.push(ModelDelta::Finished(response.finish_reason.clone()));
    }
    deltas
}

/// The text cut after each space, so that joined pieces give it back.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::message::Transcript;
    use serde_json::json;

    fn request() -> ChatRequest {
        ChatRequest::new(Transcript::from_messages([Message::user("Hi")]).unwrap()).unwrap()
    }

    fn turn() -> Turn {
        calls("get_weather", json!({"city": "Oslo"}))
            .and_calls("search", json!({"q": "snow"}))
            .with_id("call_1")
            .and_says("Let me look.")
            .reasons("They want weather.")
            .with_usage(Usage::new(7, 5))
    }

    #[tokio::test]
    async fn stream_and_chat_give_the_same_reply() {
        let streamed = super::super::delta::fold(ScriptedModel::new([turn()]).stream(request()));
        let plain = ScriptedModel::new([turn()]).chat(request());

        let plain = plain.await.unwrap();
        assert_eq!(streamed.await.unwrap(), plain);
        assert_eq!(plain.finish_reason, FinishReason::ToolCalls);
    }

    #[tokio::test]
    async fn generated_ids_do_not_meet_given_ones() {
        let model = ScriptedModel::new([turn()]);

        let response = model.chat(request()).await.unwrap();
        let ids: Vec<&str> = response
            .message
            .tool_calls
            .iter()
            .map(|call| &*call.id)
            .collect();
        assert_eq!(ids, ["call_2", "call_1"]);
    }

    #[tokio::test]
    async fn a_failed_turn_hands_out_its_text_but_no_call() {
        let error = ModelError::new(ModelErrorKind::Transport, "the connection broke");
        let model = ScriptedModel::new([fails(error)
            .and_says("So far")
            .and_calls("search", json!({}))]);

        let deltas: Vec<_> = model.stream(request()).collect().await;
        assert_eq!(deltas[0].as_ref().unwrap(), &ModelDelta::Text("So ".into()));
        assert!(
            !deltas
                .iter()
                .any(|delta| matches!(delta, Ok(ModelDelta::ToolCall(_))))
        );
        assert_eq!(
            deltas.last().unwrap().as_ref().unwrap_err().kind(),
            ModelErrorKind::Transport
        );
    }

    #[tokio::test]
    async fn past_the_end_of_the_script_is_an_error() {
        let model = ScriptedModel::new([]);

        let error = model.clone().chat(request()).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::ScriptEnded);
        assert_eq!(model.requests().len(), 1);
    }
}
