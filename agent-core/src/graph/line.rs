//! The loop over steps; the only one.
//!
//! A line is a way through a graph: the run's own, one of a branch up to its join, or one
//! through a sub-graph. A step is: look at the token and the limit, run one node on a snapshot,
//! join its update, find what comes next, write it down. A loop in a graph is a loop here, so
//! the stack grows only with lines inside of lines.

use std::sync::Arc;

use super::checkpoint::CheckpointError;
use super::checkpoint::record::Asked;
use super::compiled::Target;
use super::runner::Run;
use super::way::Way;
use super::{CompiledGraph, RunError, START, State, StateError, StateUpdate as Update};
use crate::boxed::BoxFuture;
use crate::state::delta::StateDelta;

/// How deep lines may stand inside of lines.
pub(super) const DEEPEST: usize = 64;

/// A way through a graph.
pub(super) struct Line<'r> {
    pub(super) run: &'r Run,
    pub(super) graph: CompiledGraph,
    pub(super) state: State,
    /// Where the line ends, if not at the end of the graph.
    pub(super) stop: Option<Target>,
    /// What only lines inside of another have.
    pub(super) inner: Option<Inner>,
    pub(super) depth: usize,
}

pub(super) struct Inner {
    /// How the line is found again in the journal.
    pub(super) path: String,
    /// What stands before the names of nodes in events.
    pub(super) shown: String,
    /// What the line adds to the state it began with.
    pub(super) updates: Vec<Update>,
}

/// What a step leads to.
pub(super) enum Next {
    Go(Way),
    Paused(Vec<Arc<Asked>>),
    Halted,
}

/// How a line ended.
pub(super) enum LineEnd {
    Reached(Target),
    Paused(Vec<Arc<Asked>>),
    /// A node stopped the run, which can go on behind it.
    Halted,
}

/// What a step did.
pub(super) struct Done {
    /// The node, or the one behind which branches parted.
    pub(super) node: Option<usize>,
    /// The nodes that ran.
    pub(super) ran: Vec<Arc<str>>,
    pub(super) updates: Vec<Update>,
    pub(super) asked: Vec<Arc<Asked>>,
    /// True if it pauses where it began.
    pub(super) stays: bool,
    pub(super) effects: Vec<String>,
    /// Whose the updates are, if nobody was told of them yet.
    pub(super) speaker: Option<Arc<str>>,
}

impl Done {
    /// A step that changed nothing.
    pub(super) fn of(node: Option<usize>, ran: Vec<Arc<str>>) -> Self {
        Self {
            node,
            ran,
            updates: Vec::new(),
            asked: Vec::new(),
            stays: false,
            effects: Vec::new(),
            speaker: None,
        }
    }
}

impl<'r> Line<'r> {
    /// The line of the run itself.
    pub(super) fn own(run: &'r Run, graph: CompiledGraph, state: State) -> Self {
        Self {
            run,
            graph,
            state,
            stop: None,
            inner: None,
            depth: 0,
        }
    }

    pub(super) fn path(&self) -> &str {
        self.inner.as_ref().map_or("", |inner| &inner.path)
    }

    pub(super) fn shown(&self) -> &str {
        self.inner.as_ref().map_or("", |inner| &inner.shown)
    }

    /// The node with the way to it.
    pub(super) fn place(&self, node: usize) -> Arc<str> {
        match self.path() {
            "" => self.node_name(node),
            path => format!("{path}{}", self.graph.inner.nodes[node].name).into(),
        }
    }

    pub(super) fn node_name(&self, node: usize) -> Arc<str> {
        Arc::clone(&self.graph.inner.nodes[node].name)
    }

    pub(super) fn event_name(&self, node: usize) -> Arc<str> {
        match self.shown() {
            "" => self.node_name(node),
            shown => format!("{shown}{}", self.graph.inner.nodes[node].name).into(),
        }
    }

    /// Takes the input of a run in, and finds the first node.
    pub(super) async fn enter(
        &mut self,
        began: StateDelta,
        input: Update,
    ) -> Result<Way, RunError> {
        let mut step = Done {
            speaker: Some(START.into()),
            ..Done::of(None, vec![START.into()])
        };
        if !input.is_empty() {
            step.updates.push(input);
        }
        match self
            .done(step, began, |line| line.follow_edges(None))
            .await?
        {
            Next::Go(way) => Ok(way),
            _ => Ok(Way::To(Target::End)),
        }
    }

    /// As [`follow`](Self::follow), for lines inside of lines.
    pub(super) fn follow_inside(&mut self, way: Way) -> BoxFuture<'_, Result<LineEnd, RunError>> {
        Box::pin(self.follow(way))
    }

    /// Goes on until the line ends or pauses.
    pub(super) async fn follow(&mut self, mut way: Way) -> Result<LineEnd, RunError> {
        loop {
            // Nodes that never wait would keep the thread from everybody else.
            tokio::task::consume_budget().await;
            let next = match way {
                Way::To(target) if target == Target::End || Some(target) == self.stop => {
                    return Ok(LineEnd::Reached(target));
                }
                Way::To(Target::End) => return Ok(LineEnd::Reached(Target::End)),
                Way::To(Target::Node(node)) => self.step(node).await?,
                Way::Branches(parting) => Box::pin(self.part(parting)).await?,
            };
            way = match next {
                Next::Go(way) => way,
                Next::Paused(asked) => return Ok(LineEnd::Paused(asked)),
                Next::Halted => return Ok(LineEnd::Halted),
            };
        }
    }

    async fn step(&mut self, node: usize) -> Result<Next, RunError> {
        let run = self.run;
        if run.cancellation.is_cancelled() {
            return Err(self.cancelled());
        }
        let place = self.place(node);
        let told = run.told(&place);
        if !told.asked.is_empty() && !told.is_fresh {
            // Nobody has answered: it would ask the same again.
            let asked = told.asked.into_iter().map(|(asked, _)| asked);
            return Ok(Next::Paused(asked.collect()));
        }
        let was_held =
            told.asked.iter().any(|(asked, _)| asked.is_breakpoint) || run.is_asked_inside(&place);
        if let Some(key) = self.is_held(node).filter(|_| !was_held) {
            // Boxed, as are the other rare ways: every step would have room for them.
            return Box::pin(self.hold(node, &place, key)).await;
        }
        if let Some(sub) = self.graph.inner.nodes[node].action.sub_graph() {
            let sub = sub.clone();
            return Box::pin(self.pass_through(node, sub)).await;
        }
        self.run_node(node, place, told).await
    }

    pub(super) fn source_name(&self, node: Option<usize>) -> String {
        node.map_or_else(
            || START.to_owned(),
            |node| self.graph.inner.nodes[node].name.to_string(),
        )
    }

    pub(super) fn cancelled(&self) -> RunError {
        RunError::Cancelled {
            state: self.state.clone(),
        }
    }

    pub(super) fn update_error(&self, node: Option<usize>, source: StateError) -> RunError {
        RunError::Update {
            node: self.source_name(node),
            source: Box::new(source),
            state: self.state.clone(),
        }
    }

    pub(super) fn checkpoint_error(&self, source: CheckpointError) -> RunError {
        RunError::checkpoint(source, self.state.clone())
    }
}
