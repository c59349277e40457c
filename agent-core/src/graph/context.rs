//! What a node is given beside the state.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::checkpoint::record::{Entry, Note};
use super::checkpoint::{CheckpointError, Recorder};
use super::events::Events;
use super::runner::{Run, Told};
use super::{AnswerError, GraphEvent, NodeInterrupt, StateUpdate, StreamMode};
use crate::answer::read;

/// Values of one run by their type, which the graph hands to its nodes unseen.
///
/// ```
/// use agent_core::graph::Extensions;
///
/// let mut extensions = Extensions::new();
/// extensions.insert(String::from("tenant 7"));
/// assert_eq!(extensions.get::<String>().map(String::as_str), Some("tenant 7"));
/// assert!(extensions.get::<u8>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct Extensions {
    values: BTreeMap<TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>,
}

impl Extensions {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value; one of the same type that was there is replaced.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let entry = (type_name::<T>(), Arc::new(value) as _);
        self.values.insert(TypeId::of::<T>(), entry);
    }

    /// The value of this type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let (_, value) = self.values.get(&TypeId::of::<T>())?;
        value.downcast_ref()
    }

    /// The value of this type, shared.
    #[must_use]
    pub fn get_shared<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let (_, value) = self.values.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.values.values().map(|(name, _)| *name).collect();
        names.sort_unstable();
        f.debug_list().entries(names).finish()
    }
}

/// What a node is given beside the state. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct NodeContext {
    node: Arc<str>,
    step: u64,
    attempt: u32,
    cancellation: CancellationToken,
    extensions: Arc<Extensions>,
    /// Who hears what the node says, and under which name.
    voice: Option<(Arc<str>, Arc<Events>)>,
    asked: Arc<[(NodeInterrupt, Option<Value>)]>,
    notebook: Notebook,
}

impl NodeContext {
    /// A context to call a node by hand with, for example in a test: the first step of a run
    /// without extensions that nobody cancels.
    pub fn new(node: impl Into<Arc<str>>) -> Self {
        Self {
            node: node.into(),
            step: 1,
            attempt: 1,
            cancellation: CancellationToken::new(),
            extensions: Arc::default(),
            voice: None,
            asked: Arc::default(),
            notebook: Notebook::default(),
        }
    }

    pub(super) fn of_run(
        run: &Run,
        node: Arc<str>,
        (shown, place): (&Arc<str>, &str),
        (step, attempt): (u64, u32),
        told: &Told,
    ) -> Self {
        let asked = told.asked.iter().filter(|(asked, _)| !asked.is_breakpoint);
        let asked = asked.map(|(asked, answer)| (NodeInterrupt::of(asked), answer.clone()));
        let is_heard = run.events.tells(StreamMode::Custom);
        Self {
            node,
            step,
            attempt,
            cancellation: run.cancellation.clone(),
            extensions: Arc::clone(&run.extensions),
            voice: is_heard.then(|| (Arc::clone(shown), Arc::clone(&run.events))),
            asked: match &told.asked[..] {
                [] => Arc::default(),
                _ => asked.collect(),
            },
            notebook: Notebook::of(run.recorder.as_ref(), place),
        }
    }

    /// The same context with one more extension.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        Arc::make_mut(&mut self.extensions).insert(value);
        self
    }

    /// The name of the node.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Which step of the run this is; the first node that runs is step 1.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Which try of the node this is, from 1: see
    /// [`StateGraph::node_retry`](super::StateGraph::node_retry).
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Says something to whoever reads the [stream](super::GraphRun::stream) of the run, as
    /// [`GraphEvent::Custom`](super::GraphEvent::Custom), and waits until it was taken, so that a
    /// slow reader slows the node. It may come from a task that the node has started. Where nobody
    /// reads such events, and once the run is over, it does nothing.
    pub async fn emit(&self, value: impl Into<Value>) {
        if let Some((node, events)) = &self.voice {
            let node = Arc::clone(node);
            let value = value.into();
            events.emit(GraphEvent::Custom { node, value }).await;
        }
    }

    /// Fires when the run is cancelled.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// The values the run was given for its nodes.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// The last answer to what this node asked, if it runs again because somebody answered;
    /// `None` if it runs for the first time.
    ///
    /// # Errors
    ///
    /// The answer is not the JSON of a `T`. A node that fails with this error has not happened: the
    /// run ends with [`CheckpointError::InvalidAnswer`], and takes another answer.
    pub fn answer<T: DeserializeOwned>(&self) -> Result<Option<T>, AnswerError> {
        read_last(self.answers().last())
    }

    /// The answer to the question of this [name](super::NodeOutput::ask).
    ///
    /// # Errors
    ///
    /// The answer is not the JSON of a `T`. A node that fails with this error has not happened: the
    /// run ends with [`CheckpointError::InvalidAnswer`], and takes another answer.
    pub fn answer_to<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, AnswerError> {
        let named = self.answers().filter(|(asked, _)| asked.key == name);
        read_last(named.last())
    }

    /// The questions of this node that have their answers, in the order in which they were asked.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (&NodeInterrupt, &Value)> {
        self.asked
            .iter()
            .filter_map(|(asked, answer)| Some((asked, answer.as_ref()?)))
    }

    /// The questions of this node that still wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &NodeInterrupt> {
        let waiting = self.asked.iter().filter(|(_, answer)| answer.is_none());
        waiting.map(|(asked, _)| asked)
    }

    /// What this node wrote down, or writes down, while it runs.
    pub(crate) fn notebook(&self) -> &Notebook {
        &self.notebook
    }
}

fn read_last<T: DeserializeOwned>(
    answer: Option<(&NodeInterrupt, &Value)>,
) -> Result<Option<T>, AnswerError> {
    answer
        .map(|(asked, answer)| read(&asked.id, answer))
        .transpose()
}

/// Where a node of a run with a thread writes down how far it is, so that after a crash it does
/// not begin anew.
#[derive(Clone, Default)]
pub(crate) struct Notebook {
    recorder: Option<Arc<Recorder>>,
    place: Arc<str>,
    /// What was there when the node began.
    notes: Arc<[Note]>,
}

impl Notebook {
    fn of(recorder: Option<&Arc<Recorder>>, place: &str) -> Self {
        let Some(recorder) = recorder else {
            return Self::default();
        };
        Self {
            notes: recorder.notes(place).into(),
            recorder: Some(Arc::clone(recorder)),
            place: place.into(),
        }
    }

    /// What an earlier try of this very step wrote down, in order.
    pub(crate) fn earlier(&self) -> &[Note] {
        &self.notes
    }

    /// The run's thread.
    pub(crate) fn thread(&self) -> Option<&Arc<str>> {
        self.recorder.as_ref().map(|recorder| recorder.thread())
    }

    /// Writes something down; it is kept when this returns, if the run keeps each write. What is
    /// noted under the key of a question says that its answer was read; `null` without an update
    /// takes back what was noted under its key.
    pub(crate) async fn note(
        &self,
        key: &str,
        value: Value,
        update: Option<StateUpdate>,
    ) -> Result<(), CheckpointError> {
        let Some(recorder) = &self.recorder else {
            return Ok(());
        };
        let note = Note {
            node: self.place.to_string(),
            key: key.to_owned(),
            value,
            update,
        };
        recorder.note(vec![Entry::Note(note)]).await
    }
}

impl fmt::Debug for Notebook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notebook")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
