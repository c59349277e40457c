//! Changes the state of a thread while nobody runs on it.

use std::fmt;
use std::sync::Arc;

use super::checkpoint::record::Frontier;
use super::checkpoint::{
    CheckpointError, CheckpointId, CheckpointSaver, Loaded, Opened, Recorder, Step,
};
use super::line::Line;
use super::runner::Run;
use super::{CompiledGraph, GraphRun, RunError, START, State, StateError, StateUpdate};
use crate::boxed::BoxFuture;
use crate::message::TranscriptError;

impl CompiledGraph {
    /// Changes the state of a thread that nobody runs on: one that paused, failed, was cut off or
    /// ended. The thread gets one more checkpoint; what waits there still waits, and a resume goes
    /// on where it would have gone on, with the changed state.
    ///
    /// ```
    /// use agent_core::graph::checkpoint::MemorySaver;
    /// use agent_core::graph::{END, START, State, StateError, StateGraph, StateUpdate};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = StateGraph::new()
    ///     .node("price", async |_: State| Ok::<_, StateError>(StateUpdate::new().put("price", json!(90))))
    ///     .node("offer", async |state: State| {
    ///         let text = format!("{} €", state.value("price").unwrap_or_default());
    ///         Ok::<_, StateError>(StateUpdate::new().put("offer", text.into()))
    ///     })
    ///     .edge(START, "price")
    ///     .edge("price", "offer")
    ///     .edge("offer", END)
    ///     .interrupt_after("price")
    ///     .compile()?
    ///     .saver(MemorySaver::new());
    ///
    /// assert!(graph.run(()).thread("t1").await.is_err(), "it is paused");
    /// graph.update_state("t1", StateUpdate::new().put("price", json!(80))).await?;
    /// let state = graph.resume("t1", []).await?;
    /// assert_eq!(state.value("offer"), Some(&json!("80 €")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_state(
        &self,
        thread: impl Into<Arc<str>>,
        update: impl Into<StateUpdate>,
    ) -> StateEdit {
        StateEdit {
            run: self.run(update).thread(thread),
            as_node: None,
        }
    }
}

/// A change to the state of a thread, not made yet: await it for the changed state.
///
/// It is made as a whole or not at all. The awaited result is an error if somebody runs on the
/// thread, if there is none of this name, if the update does not fit the state, or if it would
/// leave tool calls without results where nothing gives them any: an edit opens no calls unless it
/// is made [as a node](Self::as_node) behind which they are run.
#[must_use = "an edit does nothing until it is awaited"]
pub struct StateEdit {
    run: GraphRun,
    as_node: Option<String>,
}

impl StateEdit {
    /// Where the thread is kept. Default: the graph's [saver](CompiledGraph::saver).
    pub fn saver(mut self, saver: impl CheckpointSaver) -> Self {
        self.run = self.run.saver(saver);
        self
    }

    /// Changes the state at an earlier checkpoint, which gets another branch there. What is stored
    /// stays.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.run = self.run.at(checkpoint);
        self
    }

    /// Makes the change as if this node, or [`START`], had just run and returned it: the way on is
    /// found anew by its edges, and what waited for an answer waits no more.
    pub fn as_node(mut self, node: impl Into<String>) -> Self {
        self.as_node = Some(node.into());
        self
    }

    async fn make(self) -> Result<State, RunError> {
        let Self { mut run, as_node } = self;
        let mut state = State::new();
        let (recorder, loaded) = open(&mut run)
            .await
            .map_err(|source| RunError::checkpoint(source, State::new()))?;
        let (was, next) = (loaded.state, loaded.next);
        let open_before: Vec<String> = open_calls(&was);
        let from = as_node.as_deref().unwrap_or(START);
        let unfit = |source: StateError, state: &State| RunError::Update {
            node: from.to_owned(),
            source: Box::new(source),
            state: state.clone(),
        };
        state.clone_from(&was);
        let strategies = run.graph.strategies();
        let delta = strategies
            .apply_recorded(&mut state, std::mem::take(&mut run.update))
            .map_err(|source| unfit(source, &was))?;
        let step = Step {
            ran: Vec::new(),
            delta,
            next: match &as_node {
                None => next,
                Some(node) => frontier(&run, &recorder, node, &state)?,
            },
            interrupts: match as_node.is_none() {
                true => loaded.asked,
                false => Vec::new(),
            },
            effects: Vec::new(),
            stays: as_node.is_none(),
        };
        let mut call_ids = open_calls(&state);
        if step.next != Frontier::End {
            call_ids.retain(|call| as_node.is_none() && !open_before.contains(call));
        }
        if !call_ids.is_empty() {
            let source = TranscriptError::OpenCalls { call_ids };
            return Err(unfit(source.into(), &was));
        }
        let edited = recorder.edit(step, as_node.is_none());
        edited
            .await
            .map_err(|source| RunError::checkpoint(source, was))?;
        Ok(state)
    }
}

async fn open(run: &mut GraphRun) -> Result<(Arc<Recorder>, Loaded), CheckpointError> {
    let thread = run.thread.as_deref().unwrap_or_default().to_owned();
    match run.open().await? {
        Some(Opened {
            recorder,
            loaded: Some(loaded),
        }) => Ok((recorder, *loaded)),
        _ => Err(CheckpointError::ThreadNotFound { thread }),
    }
}

fn open_calls(state: &State) -> Vec<String> {
    let calls = state.transcript().open_calls();
    calls.map(|call| call.id.to_string()).collect()
}

/// Where the edges of a node lead.
fn frontier(
    given: &GraphRun,
    recorder: &Arc<Recorder>,
    node: &str,
    state: &State,
) -> Result<Frontier, RunError> {
    let graph = given.graph.clone();
    let position = match node {
        START => None,
        name => match graph.inner.position(name) {
            Some(position) => Some(position),
            None => {
                return Err(RunError::NoSuchNode {
                    node: name.to_owned(),
                    state: state.clone(),
                });
            }
        },
    };
    let run = Run::silent(Arc::clone(recorder));
    let line = Line::own(&run, graph, state.clone());
    let way = line.follow_edges(position)?;
    Ok(line.frontier(&way))
}

impl IntoFuture for StateEdit {
    type Output = Result<State, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

impl fmt::Debug for StateEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateEdit")
            .field("thread", &self.run.thread)
            .field("as_node", &self.as_node)
            .finish_non_exhaustive()
    }
}
