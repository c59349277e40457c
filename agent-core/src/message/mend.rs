//! Histories from elsewhere, and histories cut short: whatever comes in, calls and results pair.
//!
//! All of it goes through [`Transcript::push`] and [`Transcript::answer`], which do the pairing.

use smol_str::SmolStr;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;

use super::{AssistantMessage, Message, MessageBody, ToolResult, Transcript, TranscriptError};

/// What was changed so that a history became a [`Transcript`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// A call had no result; it was given one that says that it was cancelled.
    Dangling {
        /// The id of the call.
        call_id: String,
    },
    /// A result answered no open call and was left out.
    Orphan {
        /// The id the result names.
        call_id: String,
    },
    /// Two calls of one message had one id; the later one has another now, and so has its result.
    DuplicateCall {
        /// The shared id.
        call_id: String,
    },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dangling { call_id } => write!(f, "call `{call_id}` had no result"),
            Self::Orphan { call_id } => write!(f, "a result for `{call_id}` answered no open call"),
            Self::DuplicateCall { call_id } => write!(f, "two calls had the id `{call_id}`"),
        }
    }
}

impl Transcript {
    /// A closed transcript of any messages, for example of a history that another program kept,
    /// and what had to be changed for it. The same messages give the same transcript.
    ///
    /// ```
    /// use agent_core::{Message, message::{AssistantMessage, ToolCall, Transcript}};
    ///
    /// let call = ToolCall::new("c1", "now", "{}");
    /// let (transcript, repairs) = Transcript::repaired([
    ///     AssistantMessage::new("", None, vec![call]).into(),
    ///     Message::user("Never mind."),
    /// ]);
    /// assert!(transcript.is_closed());
    /// assert_eq!(repairs.len(), 1);
    /// assert!(transcript.messages()[1].text().contains("cancelled"));
    /// ```
    pub fn repaired(messages: impl IntoIterator<Item = Message>) -> (Self, Vec<Repair>) {
        let mut mending = Mending::default();
        for message in messages {
            match message.body() {
                MessageBody::Tool(results) => mending.results(results, &message),
                _ => mending.message(message),
            }
        }
        mending.close();
        for repair in &mending.repairs {
            tracing::warn!(%repair, "a history was repaired");
        }
        (mending.transcript, mending.repairs)
    }

    /// Drops all but the system messages at the beginning and the last `count` messages. Of a
    /// group of calls and results that is cut, nothing stays.
    pub fn keep_last(&mut self, count: usize) {
        let head = self.head();
        let messages = self.messages();
        let start = messages.len().saturating_sub(count).max(head);
        let cuts = matches!(
            messages.get(start).map(Message::body),
            Some(MessageBody::Tool(_))
        );
        // Groups stay whole, so each message fits.
        let _ = self.replace(head..start + usize::from(cuts), None);
    }

    /// Puts `summary` in the place of the first `count` messages, system messages at the
    /// beginning aside. A group of calls and results that is cut stays whole.
    ///
    /// # Errors
    ///
    /// [`TranscriptError`] if the summary does not fit there, as one that calls tools or answers
    /// them. The history stays as it was.
    pub fn summarize_first(
        &mut self,
        count: usize,
        summary: Message,
    ) -> Result<(), TranscriptError> {
        let head = self.head();
        let messages = self.messages();
        let end = count.clamp(head, messages.len());
        let cuts = matches!(
            messages.get(end).map(Message::body),
            Some(MessageBody::Tool(_))
        );
        let end = end.saturating_sub(usize::from(cuts)).max(head);
        self.replace(head..end, Some(summary))
    }

    /// How many system messages stand at the beginning.
    fn head(&self) -> usize {
        let is_system = |message: &&Message| matches!(message.body(), MessageBody::System(_));
        self.messages().iter().take_while(is_system).count()
    }

    fn replace(
        &mut self,
        place: std::ops::Range<usize>,
        with: Option<Message>,
    ) -> Result<(), TranscriptError> {
        let partial: Vec<ToolResult> = self.partial_results().cloned().collect();
        let mut messages = self.messages().to_vec();
        messages.splice(place, with);
        let mut replaced = Self::new();
        for message in messages {
            replaced.push(message)?;
        }
        for result in partial {
            replaced.answer(result)?;
        }
        *self = replaced;
        Ok(())
    }
}

#[derive(Default)]
struct Mending {
    transcript: Transcript,
    repairs: Vec<Repair>,
    /// The other ids of later calls, by the id they had, in call order.
    renamed: HashMap<SmolStr, VecDeque<SmolStr>>,
}

impl Mending {
    fn message(&mut self, message: Message) {
        self.close();
        let message = self.with_different_ids(message);
        // Nothing is open and no two calls have one id, so the message fits.
        let _ = self.transcript.push(message);
    }

    fn results(&mut self, results: &[ToolResult], message: &Message) {
        // What does not fit changes nothing.
        if self.renamed.is_empty()
            && !results.is_empty()
            && self.transcript.push(message.clone()).is_ok()
        {
            return;
        }
        for result in results {
            if self.transcript.answer(result.clone()).is_ok() {
                continue;
            }
            let others = self.renamed.get_mut(&result.call_id);
            let other = others.and_then(VecDeque::pop_front);
            let mut result = result.clone();
            let call_id = std::mem::take(&mut result.call_id).into();
            result.call_id = other.unwrap_or_default();
            if self.transcript.answer(result).is_err() {
                self.repairs.push(Repair::Orphan { call_id });
            }
        }
    }

    fn close(&mut self) {
        let repairs = &mut self.repairs;
        self.transcript.close(|call| {
            let call_id = call.id.to_string();
            repairs.push(Repair::Dangling { call_id });
            ToolResult::error(call, "Error: the call was cancelled before it had a result")
        });
        self.renamed.clear();
    }

    fn with_different_ids(&mut self, message: Message) -> Message {
        let MessageBody::Assistant(answer) = message.body() else {
            return message;
        };
        let mut known = HashSet::new();
        if answer.tool_calls.iter().all(|call| known.insert(&*call.id)) {
            return message;
        }
        let mut answer: AssistantMessage = answer.clone();
        let mut known: HashSet<SmolStr> =
            answer.tool_calls.iter().map(|it| it.id.clone()).collect();
        // By shared id, the number that the next of its calls tries first.
        let mut next: HashMap<SmolStr, usize> = HashMap::new();
        for call in &mut answer.tool_calls {
            let Some(number) = next.get_mut(&call.id) else {
                next.insert(call.id.clone(), 2);
                continue;
            };
            let id = loop {
                let id = SmolStr::from(format!("{}_{number}", call.id));
                *number += 1;
                if known.insert(id.clone()) {
                    break id;
                }
            };
            let call_id = std::mem::replace(&mut call.id, id.clone());
            let renamed = self.renamed.entry(call_id.clone()).or_default();
            renamed.push_back(id);
            let call_id = call_id.into();
            self.repairs.push(Repair::DuplicateCall { call_id });
        }
        Message::with_id(message.id().clone(), MessageBody::Assistant(answer))
    }
}
