//! Writes a thread while a run goes on: what happened first, then what depends on it.
//!
//! One commit at a time. Who comes while another is made adds to the next, so calls that end
//! together cost one. A commit that has begun is finished, also if the run is dropped meanwhile.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::durability::Durability;
use super::failed::Failed;
use super::journal::Journal;
use super::load::{Loaded, check_name, load};
use super::record::{Asked, Entry, Frontier, MAIL, Note};
use super::running::take;
use super::same::places;
use super::step::Step;
use super::{
    CheckpointError, CheckpointId, CheckpointSaver, Commit, SaverError, StoredCheckpoint,
    ThreadChange, ThreadLock, format,
};
use crate::boxed::BoxError;
use crate::message::{Message, MessageId};
use crate::state::StateUpdate;

/// The thread of a run, and the right to write it.
pub(crate) struct Recorder {
    saver: Arc<dyn CheckpointSaver>,
    thread: Arc<str>,
    durability: Durability,
    turn: Arc<Semaphore>,
    inner: Mutex<Inner>,
    _lock: ThreadLock,
}

struct Inner {
    version: u64,
    head: Option<CheckpointId>,
    step: u64,
    /// What of the steps that are not over was written down, or would have been.
    journal: Journal,
    /// The questions that the head holds.
    asked: Vec<Arc<Asked>>,
    /// Writes that are not committed yet.
    queued: Vec<Arc<[u8]>>,
    /// Steps that are not committed yet.
    waiting: Option<Step>,
    /// What comes next where the run begins, if that is not known to be the thread's head: what is
    /// written down there needs a checkpoint of its own to stand behind.
    parted: Option<Step>,
    /// The messages from outside that the run has read.
    read: HashSet<MessageId>,
    /// Why a commit failed: nobody knows what is stored then.
    failed: Option<Failed>,
}

/// A thread that was opened for a run.
pub(crate) struct Opened {
    pub(in crate::graph) recorder: Arc<Recorder>,
    pub(in crate::graph) loaded: Option<Box<Loaded>>,
}

impl Opened {
    /// Takes a thread and reads it, up to its head or another checkpoint.
    pub(crate) async fn open(
        saver: Arc<dyn CheckpointSaver>,
        thread: Arc<str>,
        at: Option<&CheckpointId>,
        durability: Durability,
    ) -> Result<Self, CheckpointError> {
        check_name(&thread)?;
        let lock = take(&saver, &thread).await?;
        let loaded = load(&saver, &thread, at).await?;
        let recorder = Recorder {
            inner: Mutex::new(Inner {
                version: loaded.as_ref().map_or(0, |loaded| loaded.version),
                head: loaded.as_ref().map(|loaded| loaded.at.clone()),
                step: loaded.as_ref().map_or(0, |loaded| loaded.step),
                journal: Journal::of(loaded.as_ref()),
                asked: loaded
                    .as_ref()
                    .map_or_else(Vec::new, |loaded| loaded.stored.asked.clone()),
                queued: Vec::new(),
                waiting: None,
                parted: at.and(loaded.as_ref()).map(Step::standing),
                read: HashSet::new(),
                failed: None,
            }),
            saver,
            thread,
            durability,
            turn: Arc::new(Semaphore::new(1)),
            _lock: lock,
        };
        Ok(Self {
            recorder: Arc::new(recorder),
            loaded: loaded.map(Box::new),
        })
    }
}

impl Recorder {
    pub(crate) fn thread(&self) -> &Arc<str> {
        &self.thread
    }

    pub(crate) fn saver(&self) -> &Arc<dyn CheckpointSaver> {
        &self.saver
    }

    /// How many steps the thread has taken.
    pub(in crate::graph) fn step(&self) -> u64 {
        let inner = self.inner();
        inner.step
            + inner
                .waiting
                .as_ref()
                .map_or(0, |step| step.ran.len() as u64)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The notes of a node that has not ended.
    pub(in crate::graph) fn notes(&self, node: &str) -> Vec<Note> {
        self.inner().journal.notes(node)
    }

    /// What the nodes of a branch, or of a sub-graph, have done so far.
    pub(in crate::graph) fn ended(&self, of: &str) -> Vec<Entry> {
        self.inner().journal.ended(of)
    }

    /// What a step of a branch, or of a sub-graph, says that was not written down before: what
    /// comes next in it, and what is asked.
    pub(in crate::graph) fn news(
        &self,
        of: &str,
        step: Step,
    ) -> (Option<Frontier>, Vec<Arc<Asked>>) {
        let inner = self.inner();
        if !step.stays || !inner.journal.knows(of) {
            return (Some(step.next), step.interrupts);
        }
        let asked = places(&inner.asked, &step.interrupts).into_iter();
        let new = asked.filter(|(_, place)| place.is_none());
        (None, new.map(|(asked, _)| Arc::clone(asked)).collect())
    }

    /// Writes down what must be known before the run goes on, as far as it is to be known at
    /// all times.
    pub(in crate::graph) async fn note(
        self: &Arc<Self>,
        entries: Vec<Entry>,
    ) -> Result<(), CheckpointError> {
        let is_now = self.durability == Durability::EachWrite;
        self.queue(entries, is_now)?;
        match is_now {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// Writes down the answers of a resumed run, whatever the durability: each counts once.
    pub(in crate::graph) async fn answers(
        self: &Arc<Self>,
        answers: Vec<Entry>,
    ) -> Result<(), CheckpointError> {
        self.queue(answers, true)?;
        self.flush().await
    }

    fn queue(&self, entries: Vec<Entry>, is_now: bool) -> Result<(), CheckpointError> {
        let mut bytes: Vec<Arc<[u8]>> = Vec::new();
        if is_now {
            for entry in &entries {
                let written = format::write_entry(entry).map_err(|error| self.unwritable(error))?;
                bytes.push(written.into());
            }
        }
        let mut inner = self.inner();
        inner.journal.add(entries);
        inner.queued.extend(bytes);
        Ok(())
    }

    /// Commits what is queued.
    async fn flush(self: &Arc<Self>) -> Result<(), CheckpointError> {
        let turn = self.take_turn().await?;
        let change = {
            let mut inner = self.inner();
            // Somebody else's commit took them along, or failed to.
            if inner.queued.is_empty() || inner.failed.is_some() {
                return self.sound(&inner);
            }
            match inner.parted.take() {
                Some(step) => self.checkpoint(&mut inner, step)?,
                // Without a head they are told by the first checkpoint.
                None if inner.head.is_none() => return Ok(()),
                None => ThreadChange::Writes(std::mem::take(&mut inner.queued)),
            }
        };
        self.commit(turn, change).await
    }

    /// Keeps messages from outside until the run has read them: at once, if the thread is there.
    pub(crate) async fn keep_mail(
        self: &Arc<Self>,
        mut mail: Vec<Message>,
    ) -> Result<(), CheckpointError> {
        {
            let inner = self.inner();
            mail.retain(|message| !inner.journal.keeps(message));
        }
        if mail.is_empty() {
            return Ok(());
        }
        let note = Note {
            node: MAIL.to_owned(),
            key: String::new(),
            value: serde_json::Value::Null,
            update: Some(StateUpdate::new().messages(mail)),
        };
        self.answers(vec![Entry::Note(note)]).await
    }

    /// These messages from outside are part of what the run does next.
    pub(crate) fn mail_read<'a>(&self, mail: impl IntoIterator<Item = &'a Message>) {
        let ids = mail.into_iter().map(|message| message.id().clone());
        self.inner().read.extend(ids);
    }

    /// Commits a step, or keeps it for the end.
    pub(in crate::graph) async fn step_done(
        self: &Arc<Self>,
        step: Step,
    ) -> Result<(), CheckpointError> {
        let is_last = step.next == Frontier::End || !step.interrupts.is_empty();
        self.keep(step);
        match is_last || self.durability != Durability::AtEnd {
            true => self.settle().await,
            false => Ok(()),
        }
    }

    /// Commits a change that no node made. What is written down of the steps that are not over
    /// stays, unless they count as over.
    pub(in crate::graph) async fn edit(
        self: &Arc<Self>,
        step: Step,
        keeps_open: bool,
    ) -> Result<(), CheckpointError> {
        {
            let mut inner = self.inner();
            inner.waiting = Some(step);
            if !keeps_open {
                inner.journal.clear();
            }
        }
        self.settle().await
    }

    fn keep(&self, step: Step) {
        let mut inner = self.inner();
        match &mut inner.waiting {
            None => inner.waiting = Some(step),
            Some(waiting) => waiting.extend(step),
        }
        let Inner {
            journal,
            read,
            waiting,
            ..
        } = &mut *inner;
        let asked = waiting.as_ref().map(|step| &step.interrupts[..]);
        journal.step_done(asked.unwrap_or_default(), read);
    }

    /// Commits the steps that were kept.
    pub(in crate::graph) async fn settle(self: &Arc<Self>) -> Result<(), CheckpointError> {
        let turn = self.take_turn().await?;
        let change = {
            let mut inner = self.inner();
            self.sound(&inner)?;
            let Some(step) = inner.waiting.take() else {
                return Ok(());
            };
            inner.parted = None;
            self.checkpoint(&mut inner, step)?
        };
        self.commit(turn, change).await
    }

    /// A step, and all that is written down of those that are not over.
    fn checkpoint(&self, inner: &mut Inner, step: Step) -> Result<ThreadChange, CheckpointError> {
        inner.step += step.ran.len() as u64;
        inner.queued.clear();
        let asked = std::mem::replace(&mut inner.asked, step.interrupts.clone());
        let parent = inner.head.as_ref().map(|_| &asked[..]);
        let record = step.record(inner.step, parent, inner.journal.written());
        let payload = format::write_checkpoint(&record).map_err(|error| {
            // What was to be written is gone.
            inner.failed = Some(Failed::of(&error));
            self.unwritable(error)
        })?;
        Ok(ThreadChange::Checkpoint(StoredCheckpoint {
            id: CheckpointId::fresh(),
            parent: inner.head.clone(),
            payload: payload.into(),
        }))
    }

    async fn take_turn(&self) -> Result<OwnedSemaphorePermit, CheckpointError> {
        let turn = Arc::clone(&self.turn).acquire_owned().await;
        turn.map_err(|_| self.unavailable("the thread is closed".into()))
    }

    /// Makes a commit to its end, also if nobody waits for it any more.
    async fn commit(
        self: &Arc<Self>,
        turn: OwnedSemaphorePermit,
        change: ThreadChange,
    ) -> Result<(), CheckpointError> {
        let this = Arc::clone(self);
        let running = self.saver.running().map(|runs| runs.commit(&self.thread));
        let commit = async move {
            let head = match &change {
                ThreadChange::Checkpoint(added) => Some(added.id.clone()),
                _ => None,
            };
            let expected = this.inner().version;
            let made = this
                .saver
                .commit(&this.thread, Commit { expected, change })
                .await;
            let mut inner = this.inner();
            match &made {
                Ok(()) => {
                    inner.version += 1;
                    inner.head = head.or(inner.head.take());
                }
                Err(error) => inner.failed = Some(Failed::commit(error)),
            }
            drop(inner);
            drop((turn, this));
            // Who waits for this finds the thread free, if the run is gone.
            drop(running);
            made.map_err(CheckpointError::from)
        };
        match Handle::try_current() {
            Err(_) => commit.await,
            Ok(runtime) => match runtime.spawn(commit).await {
                Ok(made) => made,
                Err(error) => {
                    self.inner().failed = Some(Failed::of(&error));
                    Err(self.unavailable(error.into()))
                }
            },
        }
    }

    fn sound(&self, inner: &Inner) -> Result<(), CheckpointError> {
        match &inner.failed {
            None => Ok(()),
            Some(failed) => Err(failed.error(&self.thread)),
        }
    }

    fn unavailable(&self, source: BoxError) -> CheckpointError {
        CheckpointError::Saver(SaverError::Unavailable {
            thread: self.thread.to_string(),
            source,
        })
    }

    fn unwritable(&self, source: crate::state::StateError) -> CheckpointError {
        CheckpointError::Encode {
            thread: self.thread.to_string(),
            source,
        }
    }
}
