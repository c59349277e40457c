//! What a model does with one request, as a script says it.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::boxed::{BoxFuture, BoxStream};
use crate::message::{AssistantMessage, ToolCall};
use crate::model::{ChatResponse, FinishReason, ModelDelta, ModelError, Usage};

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

    /// The ids that its calls are given.
    pub(super) fn given_ids(&self) -> impl Iterator<Item = String> {
        self.calls.iter().filter_map(|call| call.id.clone())
    }
}

/// Hands out call ids that no turn of the script has.
#[derive(Debug, Default)]
pub(in crate::model) struct CallIds {
    given: HashSet<String>,
    count: u64,
}

impl CallIds {
    /// Hands out none of these.
    pub(super) fn without(given: impl IntoIterator<Item = String>) -> Self {
        Self {
            given: given.into_iter().collect(),
            count: 0,
        }
    }

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

/// A reply, and how it is handed out.
#[derive(Debug)]
pub(in crate::model) struct Answer {
    response: ChatResponse,
    pace: Option<Duration>,
    end: End,
}

impl Answer {
    /// What a turn makes.
    pub(in crate::model) fn new(turn: Turn, ids: &mut CallIds) -> Self {
        let calls = turn.calls.into_iter().map(|call| {
            let id = call.id.unwrap_or_else(|| ids.next());
            ToolCall::new(id, call.name, call.arguments)
        });
        let tool_calls: Vec<ToolCall> = calls.collect();
        let finish_reason = turn.finish_reason.unwrap_or(match tool_calls.is_empty() {
            true => FinishReason::Stop,
            false => FinishReason::ToolCalls,
        });
        let message = AssistantMessage::new(turn.text, turn.reasoning, tool_calls);
        Self {
            response: ChatResponse::new(message, finish_reason, turn.usage),
            pace: turn.pace,
            end: turn.end,
        }
    }

    /// A reply that is there already, or the part of it that came before an error.
    pub(in crate::model) fn of(response: ChatResponse, error: Option<ModelError>) -> Self {
        Self {
            response,
            pace: None,
            end: error.map_or(End::Finish, End::Fail),
        }
    }

    /// The reply in pieces.
    pub(in crate::model) fn stream(self) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        let is_whole = matches!(self.end, End::Finish);
        let deltas = stream::iter(deltas(self.response, is_whole));
        let written: BoxStream<'static, _> = match self.pace {
            None => Box::pin(deltas.map(Ok)),
            Some(pause) => Box::pin(deltas.then(move |delta| async move {
                if matches!(delta, ModelDelta::Text(_) | ModelDelta::Reasoning(_)) {
                    tokio::time::sleep(pause).await;
                }
                Ok(delta)
            })),
        };
        match self.end {
            End::Finish => written,
            End::Fail(error) => Box::pin(written.chain(stream::iter([Err(error)]))),
            End::Hang => Box::pin(written.chain(stream::pending())),
        }
    }

    /// The reply as a whole.
    pub(in crate::model) fn chat(self) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            match self.end {
                End::Finish => Ok(self.response),
                End::Fail(error) => Err(error),
                End::Hang => std::future::pending().await,
            }
        })
    }
}

/// What is handed out, in order. A reply that fails or hangs releases no call, because its end
/// never came.
fn deltas(response: ChatResponse, is_whole: bool) -> Vec<ModelDelta> {
    let message = response.message;
    let mut deltas = Vec::new();
    if let Some(reasoning) = &message.reasoning {
        deltas.extend(words(reasoning).map(|word| ModelDelta::Reasoning(word.to_owned())));
    }
    deltas.extend(words(&message.text).map(|word| ModelDelta::Text(word.to_owned())));
    for (index, call) in message.tool_calls.iter().enumerate() {
        let mut fragment = |arguments: &str| {
            deltas.push(ModelDelta::ToolCallFragment {
                index,
                id: call.id.to_string(),
                name: call.name.to_string(),
                arguments: arguments.to_owned(),
            });
        };
        fragment("");
        words(&call.arguments).for_each(&mut fragment);
    }
    if is_whole {
        deltas.extend(message.opaque.into_iter().map(ModelDelta::Opaque));
        deltas.extend(message.tool_calls.into_iter().map(ModelDelta::ToolCall));
        deltas.extend(response.usage.map(ModelDelta::Usage));
        deltas.push(ModelDelta::Finished(response.finish_reason));
    }
    deltas
}

/// The text cut after each space, so that joined pieces give it back.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}
