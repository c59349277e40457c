//! A history that cannot be invalid.
//!
//! [`Transcript`] is the only place where tool calls and their results are paired. An
//! assistant message with calls opens a group; until every call of it has exactly one
//! result, nothing else can be added. Only a closed transcript makes a model request.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::group::OpenGroup;
use super::log::Log;
use super::misfit::TranscriptError;
use super::{Message, MessageBody, MessageId, ToolCall, ToolResult};

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
    messages: Arc<Log>,
    open: Option<OpenGroup>,
}

/// The calls of the last message.
fn calls_of(messages: &[Message]) -> &[ToolCall] {
    messages.last().map_or(&[], Message::tool_calls)
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
            return match self.is_whole_answer(results) {
                true => {
                    self.open = None;
                    self.add(message);
                    Ok(())
                }
                false => self.answer_all(results),
            };
        }
        if self.open.is_some() {
            return Err(TranscriptError::OpenCalls {
                call_ids: self.open_calls().map(|call| call.id.to_string()).collect(),
            });
        }
        let calls = message.tool_calls();
        if !calls.is_empty() {
            let group = OpenGroup::new(calls)
                .map_err(|call_id| TranscriptError::DuplicateCallId { call_id })?;
            self.open = Some(group);
        }
        self.add(message);
        Ok(())
    }

    /// Gives one open call its result.
    ///
    /// # Errors
    ///
    /// [`TranscriptError::UnknownCall`] or [`TranscriptError::AlreadyAnswered`].
    pub fn answer(&mut self, result: ToolResult) -> Result<(), TranscriptError> {
        match &mut self.open {
            Some(open) => open.answer(calls_of(&self.messages), result)?,
            None => {
                return Err(TranscriptError::UnknownCall {
                    call_id: result.call_id.into(),
                });
            }
        }
        self.end_whole_group();
        Ok(())
    }

    /// Gives open calls other arguments; of two for one call the later count.
    ///
    /// # Errors
    ///
    /// [`TranscriptError::UnknownCall`] if one of them is not open. Nothing is changed then.
    pub(crate) fn edit_calls(
        &mut self,
        edits: Vec<(String, String)>,
    ) -> Result<(), TranscriptError> {
        if edits.is_empty() {
            return Ok(());
        }
        let open: HashSet<&str> = self.open_calls().map(|call| call.id.as_str()).collect();
        let is_unknown = |(call_id, _): &&(String, String)| !open.contains(call_id.as_str());
        if let Some((call_id, _)) = edits.iter().find(is_unknown) {
            let call_id = call_id.clone();
            return Err(TranscriptError::UnknownCall { call_id });
        }
        let mut edits: HashMap<String, String> = edits.into_iter().collect();
        let Some(last) = Log::edit(&mut self.messages).last_mut() else {
            return Ok(());
        };
        let mut body = last.body().clone();
        if let MessageBody::Assistant(answer) = &mut body {
            for call in &mut answer.tool_calls {
                if let Some(arguments) = edits.remove(call.id.as_str()) {
                    call.set_arguments(arguments.into());
                }
            }
        }
        *last = Message::with_id(last.id().clone(), body);
        Ok(())
    }

    /// Gives every open call a result, so that the transcript is closed.
    pub fn close(&mut self, mut result_for: impl FnMut(&ToolCall) -> ToolResult) {
        let Some(open) = self.open.take() else {
            return;
        };
        let calls = calls_of(&self.messages);
        let mut results = open.into_results(calls.len());
        for (slot, call) in results.iter_mut().zip(calls) {
            if slot.is_none() {
                let mut result = result_for(call);
                result.call_id.clone_from(&call.id);
                *slot = Some(result);
            }
        }
        let results = results.into_iter().flatten().collect();
        self.add_results(results);
    }

    /// Gives open calls their results, in order. What stands before one that does not fit stays.
    pub(crate) fn answers(&mut self, results: Vec<ToolResult>) -> Result<(), TranscriptError> {
        if self.is_whole_answer(&results) {
            self.open = None;
            self.add_results(results);
            return Ok(());
        }
        let mut results = results.into_iter();
        results.try_for_each(|result| self.answer(result))
    }

    /// Does what `change` does, or nothing if it fails. It may only add.
    pub(crate) fn all_or_nothing(
        &mut self,
        change: impl FnOnce(&mut Self) -> Result<(), TranscriptError>,
    ) -> Result<(), TranscriptError> {
        let (len, open) = (self.messages.len(), self.open.clone());
        let changed = change(self);
        if changed.is_err() {
            self.open = open;
            if self.messages.len() > len {
                Log::edit(&mut self.messages).truncate(len);
            }
        }
        changed
    }

    /// True if these are the results of all calls that are open, none of which has one, in order.
    fn is_whole_answer(&self, results: &[ToolResult]) -> bool {
        let calls = calls_of(&self.messages);
        self.open.as_ref().is_some_and(|open| {
            open.missing == calls.len()
                && results.len() == calls.len()
                && calls
                    .iter()
                    .zip(results)
                    .all(|(call, result)| call.id == result.call_id)
        })
    }

    fn answer_all(&mut self, results: &[ToolResult]) -> Result<(), TranscriptError> {
        if let [only] = results {
            return self.answer(only.clone());
        }
        // On a copy, so that a fault changes nothing.
        let mut open = self.open.clone();
        for result in results {
            match &mut open {
                Some(open) => open.answer(calls_of(&self.messages), result.clone())?,
                None => {
                    return Err(TranscriptError::UnknownCall {
                        call_id: result.call_id.to_string(),
                    });
                }
            }
        }
        self.open = open;
        self.end_whole_group();
        Ok(())
    }

    /// Makes the results of the open group a message, if none is missing.
    fn end_whole_group(&mut self) {
        if let Some(open) = self.open.take_if(|open| open.missing == 0) {
            let results = open.into_results(0);
            self.add_results(results.into_iter().flatten().collect());
        }
    }

    /// Adds the message of the last message's results. Its id follows from that of the calls, so
    /// that a history that is put together again from its changes is the same.
    fn add_results(&mut self, results: Vec<ToolResult>) {
        let calls = self.messages.last().map_or("", |last| last.id().as_str());
        let id = MessageId::new([calls, ":results"].concat());
        self.add(Message::with_id(id, MessageBody::Tool(results)));
    }

    fn add(&mut self, message: Message) {
        Log::push(&mut self.messages, message);
    }

    /// The text of all messages, as `write` adds one after the other for this profile, and what it
    /// came to know of them. It is kept for the first profile that asks.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(crate) fn text<'a, K: Default + Send + 'static, R>(
        &'a self,
        profile: &'static str,
        write: impl Fn(&'a Message, &mut String, &mut K),
        read: impl FnOnce(&Arc<String>, &K) -> R,
    ) -> R {
        self.messages.text(profile, write, read)
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
        self.open_positions().map(|(_, call)| call)
    }

    /// As [`open_calls`](Self::open_calls), with their positions in the message.
    pub(crate) fn open_positions(&self) -> impl Iterator<Item = (usize, &ToolCall)> {
        let open = self.open.as_ref();
        let calls = open.map_or(&[][..], |_| calls_of(&self.messages));
        let calls = calls.iter().enumerate();
        calls.filter(move |(position, _)| open.is_some_and(|open| open.is_open(*position)))
    }

    /// The results an open group has so far, in call order; empty if no group is open.
    pub fn partial_results(&self) -> impl Iterator<Item = &ToolResult> {
        let results = self.open.iter().flat_map(OpenGroup::results);
        results.flatten()
    }

    /// Removes a message. A message of a call group takes its whole group with it, so that
    /// no call stays without result and no result without call.
    ///
    /// Returns false if there is no message of this id.
    pub fn remove(&mut self, id: &MessageId) -> bool {
        let Some(position) = self.messages.iter().position(|message| message.id() == id) else {
            return false;
        };
        let messages = Log::edit(&mut self.messages);
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
