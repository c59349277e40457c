//! What broke the beginning that a request shares with the one before it.
//!
//! Providers keep the beginning of a request in a cache, and a later request that begins with
//! the same bytes costs a fraction. A request of ours goes on where the one before ended, as
//! long as the model, the tools, the system prompt and what was said stay as they are.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::{ChatRequest, ToolList};
use crate::message::{Message, MessageId};

/// How many conversations of a client are watched.
const WATCHED: usize = 32;

/// The first thing in which a request differs from the one before it in its conversation.
///
/// [`ChatRequest::prefix_break`] tells it of two requests. A client of this crate tells it of those
/// that it sends, in a line of the log at the level `WARN`, for the 32 conversations that it was
/// asked in last.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrefixBreak {
    /// Another model is asked; each has a cache of its own.
    Model,
    /// Other tools are offered, or in another order; this is the first that differs.
    Tools {
        /// Its place among the tools.
        position: usize,
    },
    /// The system prompt is another one.
    System,
    /// This message was changed, removed, or came in between.
    Message {
        /// Its place in the history.
        position: usize,
    },
}

impl fmt::Display for PrefixBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model => f.write_str("the model differs"),
            Self::Tools { position } => write!(f, "tool {position} differs"),
            Self::System => f.write_str("the system prompt differs"),
            Self::Message { position } => write!(f, "message {position} differs"),
        }
    }
}

impl ChatRequest {
    /// What keeps this request from going on where `earlier` ended; `None` if it does.
    ///
    /// ```
    /// use agent_core::{Message, message::Transcript};
    /// use agent_core::model::{ChatRequest, PrefixBreak};
    ///
    /// let mut transcript = Transcript::from_messages([Message::user("Hi")])?;
    /// let first = ChatRequest::new(transcript.clone())?;
    /// transcript.push(Message::assistant("Hello."))?;
    /// let second = ChatRequest::new(transcript)?;
    /// assert_eq!(second.prefix_break(&first), None);
    ///
    /// let dated = second.with_system(Some(Message::system("It is 12:01.")));
    /// assert_eq!(dated.prefix_break(&first), Some(PrefixBreak::System));
    /// # Ok::<(), agent_core::message::TranscriptError>(())
    /// ```
    #[must_use]
    pub fn prefix_break(&self, earlier: &Self) -> Option<PrefixBreak> {
        if self.options().model != earlier.options().model {
            return Some(PrefixBreak::Model);
        }
        let (ours, theirs) = (self.tools().definitions(), earlier.tools().definitions());
        let same = ours.iter().zip(theirs).take_while(|(one, other)| {
            one.name() == other.name()
                && one.description() == other.description()
                && one.input_schema().text() == other.input_schema().text()
        });
        let position = same.count();
        if position < ours.len().max(theirs.len()) {
            return Some(PrefixBreak::Tools { position });
        }
        if !same_text(self.system(), earlier.system()) {
            return Some(PrefixBreak::System);
        }
        let (ours, theirs) = (
            self.transcript().messages(),
            earlier.transcript().messages(),
        );
        let same = ours
            .iter()
            .zip(theirs)
            .take_while(|(one, other)| one == other);
        let position = same.count();
        (position < theirs.len()).then_some(PrefixBreak::Message { position })
    }
}

fn same_text(one: Option<&Message>, other: Option<&Message>) -> bool {
    one.map(Message::text) == other.map(Message::text)
}

/// Watches the conversations of a client, and logs a warning where one cannot go on.
#[derive(Debug, Default)]
#[allow(dead_code, reason = "only model clients use it, and they are features")]
pub(super) struct PrefixWatch(Mutex<VecDeque<Seen>>);

/// What is remembered of the last request of a conversation: nothing of its history is held.
#[derive(Debug)]
struct Seen {
    first: MessageId,
    model: String,
    tools: ToolList,
    system: Option<Message>,
    last: MessageId,
    count: usize,
}

impl Seen {
    fn of(request: &ChatRequest, own: &str) -> Option<Self> {
        let messages = request.transcript().messages();
        Some(Self {
            first: messages.first()?.id().clone(),
            model: request.options().model_or(own).to_owned(),
            tools: request.tools().clone(),
            system: request.system().cloned(),
            last: messages.last()?.id().clone(),
            count: messages.len(),
        })
    }

    fn broken_by(&self, request: &ChatRequest, own: &str) -> Option<&'static str> {
        if self.model != request.options().model_or(own) {
            return Some("the model");
        }
        if !self.tools.is_like(request.tools()) {
            return Some("the tools");
        }
        if !same_text(self.system.as_ref(), request.system()) {
            return Some("the system prompt");
        }
        let last = request.transcript().messages().get(self.count - 1);
        let goes_on = last.is_some_and(|message| *message.id() == self.last);
        (!goes_on).then_some("the history")
    }
}

#[allow(dead_code, reason = "only model clients use it, and they are features")]
impl PrefixWatch {
    /// Looks at a request that is about to be sent by a client of this model.
    pub(super) fn look(&self, request: &ChatRequest, own: &str) {
        if !tracing::enabled!(tracing::Level::WARN) {
            return;
        }
        let Some(seen) = Seen::of(request, own) else {
            return;
        };
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = watched.iter().position(|other| other.first == seen.first)
            && let Some(before) = watched.remove(place)
            && let Some(what) = before.broken_by(request, own)
        {
            tracing::warn!(
                what,
                conversation = %seen.first,
                "a request does not begin as the one before it, so the provider's cache is missed"
            );
        }
        if watched.len() == WATCHED {
            watched.pop_front();
        }
        watched.push_back(seen);
    }
}
