//! A history that cannot be invalid.
//!
//! [`Transcript`] is the only place where tool calls and their results are paired. An
//! assistant message with calls opens a group; until every call of it has exactly one
//! result, nothing else can be added. Only a closed transcript makes a model request.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Message, MessageBody, MessageId, ToolCall, ToolResult};

/// Why a message cannot join a transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// Calls of the last assistant message have no result yet.
    #[error("tool calls without a result: {}", list(.call_ids))]
    OpenCalls {
        /// The ids of the open calls, in call order.
        call_ids: Vec<String>,
    },
    /// A result answers a call that the last assistant message does not hold.
    #[error("result for `{call_id}`, which is no open tool call")]
    UnknownCall {
        /// The id the result names.
        call_id: String,
    },
    /// A call has a result already.
    #[error("second result for tool call `{call_id}`")]
    AlreadyAnswered {
        /// The id the result names.
        call_id: String,
    },
    /// Two calls of one assistant message share an id.
    #[error("two tool calls of one message have the id `{call_id}`")]
    DuplicateCallId {
        /// The shared id.
        call_id: String,
    },
}

fn list(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(", ")
}

/// The messages of a conversation, with every tool call and result paired.
///
/// Cloning is cheap: clones share the messages until one of them is changed.
///
/// ```
/// use agent_core::{Message, message::{AssistantMessage, ToolCall, ToolResult, Transcript}};
///
/// let mut transcript = Transcript::new();
/// transcript.push(Message::user("What time is it?"))?;
/// let call = ToolCall::new("c1", "now", "{}");
/// transcript.push(AssistantMessage::new("", None, vec![call.clone()]).into())?;
/// assert!(!transcript.is_closed());
/// assert!(transcript.push(Message::user("Well?")).is_err());
///
/// transcript.answer(ToolResult::ok(&call, vec!["12:00".into()]))?;
/// assert!(transcript.is_closed());
/// # Ok::<(), agent_core::message::TranscriptError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    messages: Arc<Vec<Message>>,
    /// Results so far for the calls of the last message, by call position.
    open: Option<Vec<Option<ToolResult>>>,
}

impl Transcript {
    /// An empty transcript.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A transcript of these messages; it may end with an open group.
    ///
    /// # Errors
    ///
    /// The first message that does not fit what stands before it.
    pub fn from_messages(
        messages: impl IntoIterator<Item = Message>,
    ) -> Result<Self, TranscriptError> {
        let mut transcript = Self::new();
        for message in messages {
            transcript.push(message)?;
        }
        Ok(transcript)
    }

    /// Adds a message at the end.
    ///
    /// A tool message answers open calls; it may answer some of them only. The tool
    /// message that is kept stands in call order and appears once all calls have a result.
    ///
    /// # Errors
    ///
    /// [`TranscriptError::OpenCalls`] for any message but results while calls are open,
    /// and the other variants for results or calls that do not pair. Nothing is changed then.
    pub fn push(&mut self, message: Message) -> Result<(), TranscriptError> {
        if let MessageBody::Tool(results) = message.body() {
            return self.answer_all(results, Some(&message));
        }
        if self.open.is_some() {
            return Err(TranscriptError::OpenCalls {
                call_ids: self.open_calls().map(|call| call.id.clone()).collect(),
            });
        }
        let calls = message.tool_calls();
        let mut ids = HashSet::new();
        if let Some(call) = calls.iter().find(|call| !ids.insert(&call.id)) {
            return Err(TranscriptError::DuplicateCallId {
                call_id: call.id.clone(),
            });
        }
        if !calls.is_empty() {
            self.open = Some(vec![None; calls.len()]);
        }
        Arc::make_mut(&mut self.messages).push(message);
        Ok(())
    }

    /// Gives one open call its result.
    ///
    /// # Errors
    ///
    /// [`TranscriptError::UnknownCall`] or [`TranscriptError::AlreadyAnswered`].
    pub fn answer(&mut self, result: ToolResult) -> Result<(), TranscriptError> {
        self.answer_all(&[result], None)
    }

    /// Gives every open call a result, so that the transcript is closed.
    pub fn close(&mut self, mut result_for: impl FnMut(&ToolCall) -> ToolResult) {
        let Some(mut results) = self.open.take() else {
            return;
        };
        let calls = self.messages.last().map_or(&[][..], Message::tool_calls);
        for (slot, call) in results.iter_mut().zip(calls) {
            if slot.is_none() {
                let mut result = result_for(call);
                result.call_id.clone_from(&call.id);
                *slot = Some(result);
            }
        }
        let results = results.into_iter().flatten().collect();
        Arc::make_mut(&mut self.messages).push(Message::tool(results));
    }

    fn answer_all(
        &mut self,
        new: &[ToolResult],
        whole: Option<&Message>,
    ) -> Result<(), TranscriptError> {
        let calls = self.messages.last().map_or(&[][..], Message::tool_calls);
        let mut results = self.open.clone().unwrap_or_default();
        for result in new {
            let slot = calls
                .iter()
                .position(|call| call.id == result.call_id)
                .and_then(|position| results.get_mut(position));
            match slot {
                None => {
                    return Err(TranscriptError::UnknownCall {
                        call_id: result.call_id.clone(),
                    });
                }
                Some(Some(_)) => {
                    return Err(TranscriptError::AlreadyAnswered {
                        call_id: result.call_id.clone(),
                    });
                }
                Some(slot) => *slot = Some(result.clone()),
            }
        }
        if results.is_empty() || results.iter().any(Option::is_none) {
            if self.open.is_some() {
                self.open = Some(results);
            }
            return Ok(());
        }
        self.open = None;
        let results: Vec<ToolResult> = results.into_iter().flatten().collect();
        // The message that came in is kept with its id if it already is the whole set in order.
        let message = match whole {
            Some(message) if message.tool_results() == results => message.clone(),
            _ => Message::tool(results),
        };
        Arc::make_mut(&mut self.messages).push(message);
        Ok(())
    }

    /// The messages; results of a group that is still open are not among them.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The last message.
    #[must_use]
    pub fn last(&self) -> Option<&Message> {
        self.messages.last()
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// True if there is no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// True if every tool call has its result.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.open.is_none()
    }

    /// The calls of the last message that have no result yet, in call order.
    pub fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let calls = self.messages.last().map_or(&[][..], Message::tool_calls);
        let results = self.open.as_deref().unwrap_or_default();
        calls
            .iter()
            .zip(results)
            .filter(|(_, result)| result.is_none())
            .map(|(call, _)| call)
    }

    /// The results an open group has so far, in call order; empty if no group is open.
    pub fn partial_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.open.iter().flatten().flatten()
    }

    /// Removes a message. A message of a call group takes its whole group with it, so that
    /// no call stays without result and no result without call.
    ///
    /// Returns false if there is no message of this id.
    pub fn remove(&mut self, id: &MessageId) -> bool {
        let Some(position) = self.messages.iter().position(|message| message.id() == id) else {
            return false;
        };
        let messages = Arc::make_mut(&mut self.messages);
        let message = messages.remove(position);
        match message.body() {
            MessageBody::Assistant(answer) if !answer.tool_calls.is_empty() => {
                if position < messages.len() {
                    messages.remove(position);
                } else {
                    self.open = None;
                }
            }
            MessageBody::Tool(_) if position > 0 => {
                messages.remove(position - 1);
            }
            _ => {}
        }
        true
    }
}
