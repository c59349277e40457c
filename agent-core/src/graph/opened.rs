//! What whoever puts a graph together may know of a thread that was opened, before a run.

use std::collections::HashSet;
use std::sync::Arc;

use super::checkpoint::record::{Asked, Entry, Frontier, MAIL, Note};
use super::checkpoint::{CheckpointError, Loaded, Opened, Recorder, Step};
use super::runner::check_answers;
use super::{Answer, NodeInterrupt, State, StateUpdate};
use crate::message::{Message, MessageId};
use crate::state::delta::StateDelta;

/// What a thread holds where it stands.
pub(crate) struct Left {
    pub(crate) state: State,
    /// Who waits for an answer, or what the answers are to that there are.
    pub(crate) asked: Vec<NodeInterrupt>,
    /// What nodes wrote down that did not end.
    pub(crate) notes: Vec<Note>,
    /// Messages that the last run did not get to.
    pub(crate) mail: Vec<Message>,
}

impl Opened {
    /// Lets the run begin anew, whether the last one ended or not. What that one left is handed
    /// out; `None` if there was none.
    pub(crate) fn begin_anew(&mut self) -> Option<Left> {
        let left = self.loaded.as_ref();
        let left = left.map(|loaded| Left::of(loaded, loaded.pending()));
        self.loaded = None;
        if let Some(left) = &left {
            self.recorder.mail_read(&left.mail);
        }
        left
    }

    /// Looks at answers before they count. `None` if there is no such thread.
    pub(crate) fn check_answers(
        &self,
        thread: &str,
        answers: &[Answer],
    ) -> Result<Option<Left>, CheckpointError> {
        let Some(loaded) = &self.loaded else {
            return Ok(None);
        };
        check_answers(loaded, thread, answers)?;
        let answered: HashSet<&str> = answers.iter().map(Answer::id).collect();
        let asked = loaded.answerable();
        let asked = asked.filter(|asked| answered.contains(&*asked.id));
        Ok(Some(Left::of(loaded, asked)))
    }

    /// Leaves out the answers to what was answered before.
    pub(crate) fn leave_out_answered(&self, answers: &mut Vec<Answer>) {
        if let Some(loaded) = &self.loaded {
            let open: HashSet<&str> = loaded.answerable().map(|asked| &*asked.id).collect();
            answers.retain(|answer| {
                open.contains(&*answer.id) || !loaded.answered.contains(&answer.id)
            });
        }
    }

    /// The state that a resumed run goes on with.
    pub(crate) fn state(&self) -> Option<&State> {
        self.loaded.as_ref().map(|loaded| &loaded.state)
    }

    /// Who writes the thread.
    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }
}

impl Left {
    fn of<'a>(loaded: &Loaded, asked: impl Iterator<Item = &'a Arc<Asked>>) -> Self {
        let all = loaded.journal.iter().filter_map(|entry| match entry {
            Entry::Note(note) => Some(note.clone()),
            _ => None,
        });
        let (mail, notes): (Vec<Note>, Vec<Note>) = all.partition(|note| note.node == MAIL);
        let mail = mail.into_iter().filter_map(|note| note.update);
        let mut known: HashSet<MessageId> = HashSet::new();
        known.extend(loaded.state.messages().iter().map(|it| it.id().clone()));
        Self {
            state: loaded.state.clone(),
            asked: asked.map(|asked| NodeInterrupt::of(asked)).collect(),
            notes,
            // It may have been read just before the note of it was written.
            mail: mail
                .flat_map(StateUpdate::into_messages)
                .filter(|mail| known.insert(mail.id().clone()))
                .collect(),
        }
    }
}

impl Recorder {
    /// Writes down what was changed after the end of a run.
    pub(crate) async fn add(self: &Arc<Self>, delta: StateDelta) -> Result<(), CheckpointError> {
        match delta.is_empty() {
            true => Ok(()),
            false => self.ended_with(delta).await,
        }
    }

    /// Writes down that a run that paused behind its last node is over.
    pub(super) async fn end(self: &Arc<Self>) -> Result<(), CheckpointError> {
        self.ended_with(StateDelta::default()).await
    }

    async fn ended_with(self: &Arc<Self>, delta: StateDelta) -> Result<(), CheckpointError> {
        self.step_done(Step {
            ran: Vec::new(),
            delta,
            next: Frontier::End,
            interrupts: Vec::new(),
            effects: Vec::new(),
            stays: false,
        })
        .await
    }
}
