//! A model that answers by script, for tests and demonstrations.
//!
//! [`ScriptedModel`] takes one [`Turn`] per request, in order, and keeps every request it
//! got. It does no IO and waits only where a turn says so.

mod turn;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ChatModel, ChatRequest, ChatResponse, ModelDelta, ModelError, ModelErrorKind};
use crate::boxed::{BoxFuture, BoxStream};

pub(super) use turn::{Answer, CallIds};
pub use turn::{Turn, calls, fails, hangs, says};

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
        let ids = CallIds::without(turns.iter().flat_map(Turn::given_ids));
        Self(Arc::new(Mutex::new(Script {
            turns,
            ids,
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

    fn take(&self, request: ChatRequest) -> Answer {
        let mut script = self.script();
        script.requests.push(request);
        let asked = script.requests.len();
        let turn = script.turns.pop_front().unwrap_or_else(|| {
            fails(ModelError::new(
                ModelErrorKind::ScriptEnded,
                format!("request {asked} came, but the script has no turn left for it"),
            ))
        });
        Answer::new(turn, &mut script.ids)
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
        self.take(request).stream()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        self.take(request).chat()
    }

    fn name(&self) -> &str {
        "scripted"
    }

    fn provider(&self) -> &str {
        "scripted"
    }
}

#[cfg(test)]
mod tests;
