//! The messages of a transcript, and the text they make together on the wire.
//!
//! A conversation grows at its end, and each of its requests begins as the one before. So the
//! text of all messages is kept and grows with them: a request writes what is new, whatever its
//! place in the conversation.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::Message;

/// Messages in order; clones of a transcript share them.
#[derive(Default)]
pub(super) struct Log {
    messages: Vec<Message>,
    text: Mutex<Option<Text>>,
}

/// What the first messages are together.
struct Text {
    profile: &'static str,
    count: usize,
    /// Unshared once the request is gone that was sent with it.
    text: Arc<String>,
    /// What the writer has to know of them.
    known: Box<dyn Any + Send>,
}

impl Log {
    /// Adds a message at the end.
    pub(super) fn push(log: &mut Arc<Self>, message: Message) {
        match Arc::get_mut(log) {
            Some(log) => log.messages.push(message),
            None => {
                // Somebody holds a snapshot. The copy has room, so that the next one fits in. It is
                // the one that goes on, so the text is its.
                let mut messages = Vec::with_capacity(log.len() + 8);
                messages.extend_from_slice(log);
                messages.push(message);
                let text = log
                    .text
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                *log = Arc::new(Self {
                    messages,
                    text: Mutex::new(text),
                });
            }
        }
    }

    /// The messages, to change them in any way.
    pub(super) fn edit(log: &mut Arc<Self>) -> &mut Vec<Message> {
        let log = Arc::make_mut(log);
        *log.text.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        &mut log.messages
    }

    /// The text of all messages, as `write` adds one after the other for this profile, and what it
    /// came to know of them. It is kept for the first profile that asks.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(super) fn text<'a, K: Default + Send + 'static, R>(
        &'a self,
        profile: &'static str,
        write: impl Fn(&'a Message, &mut String, &mut K),
        read: impl FnOnce(&Arc<String>, &K) -> R,
    ) -> R {
        let mut kept = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.get_or_insert_with(|| Text {
            profile,
            count: 0,
            text: Arc::default(),
            known: Box::new(K::default()),
        });
        let known = kept.known.downcast_mut();
        let Some(known) = known.filter(|_| kept.profile == profile) else {
            let (mut text, mut known) = (String::new(), K::default());
            let messages = self.messages.iter();
            messages.for_each(|message| write(message, &mut text, &mut known));
            return read(&Arc::new(text), &known);
        };
        let new = self.messages.get(kept.count..).unwrap_or_default();
        if !new.is_empty() {
            let text = Arc::make_mut(&mut kept.text);
            for message in new {
                write(message, text, known);
                kept.count += 1;
            }
        }
        read(&kept.text, known)
    }
}

impl Deref for Log {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.messages
    }
}

impl Clone for Log {
    fn clone(&self) -> Self {
        Self {
            messages: self.messages.clone(),
            text: Mutex::default(),
        }
    }
}

impl PartialEq for Log {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages.fmt(f)
    }
}
