//! The loop over steps; the only one.
//!
//! A line is a way through a graph: the run's own, one of a branch up to its join, or one
//! through a sub-graph. A step is: look at the token and the limit, run one node on a snapshot,
//! join its update, find what comes next, write it down. A loop in a graph is a loop here, so
//! the stack grows only with lines inside of lines.

use std::sync::Arc;
use std::time::Instant;

use super::checkpoint::CheckpointError;
use super::checkpoint::record::{Asked, Entry};
use super::compiled::Target;
use super::node::Question;
use super::runner::{Run, Told};
use super::way::Way;
use super::{CompiledGraph, GraphEvent, RunError, START, State, StateError, StateUpdate as Update};
use crate::boxed::BoxFuture;
use crate::state::delta::StateDelta;

/// How deep lines may stand inside of lines.
const DEEPEST: usize = 64;

/// A way through a graph.
pub(super) struct Line<'r> {
    pub(super) run: &'r Run,
    pub(super) graph: CompiledGraph,
    pub(super) state: State,
    /// Where the line ends, if not at the end of the graph.
    stop: Option<Target>,
    /// What only lines inside of another have.
    pub(super) inner: Option<Inner>,
    depth: usize,
}

pub(super) struct Inner {
    /// How the line is found again in the journal.
    pub(super) path: String,
    /// What stands before the names of nodes in events.
    shown: String,
    /// What the line adds to the state it began with.
    pub(super) updates: Vec<Update>,
}

/// What a step leads to.
pub(super) enum Next {
    Go(Way),
    Paused(Vec<Asked>),
    Halted,
}

/// How a line ended.
pub(super) enum LineEnd {
    Reached(Target),
    Paused(Vec<Asked>),
    /// A node stopped the run, which can go on behind it.
    Halted,
}

/// What a step did.
pub(super) struct Done {
    /// The node, or the one behind which branches parted.
    pub(super) node: Option<usize>,
    /// The nodes that ran.
    pub(super) ran: Vec<String>,
    pub(super) updates: Vec<Update>,
    pub(super) asked: Vec<Asked>,
    pub(super) effects: Vec<String>,
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

    /// A line inside of this one, as it stood when it was last written down; and what comes
    /// next in it, if it had begun.
    pub(super) fn inside(
        &self,
        graph: &CompiledGraph,
        stop: Option<Target>,
        (path, shown): (String, String),
        input: Option<Update>,
    ) -> Result<(Self, Option<Way>), RunError> {
        if self.depth >= DEEPEST {
            return Err(RunError::TooDeep {
                limit: DEEPEST,
                state: self.state.clone(),
            });
        }
        let ended = self.run.recorder.as_ref();
        let ended = ended.map_or_else(Vec::new, |recorder| recorder.ended(&path));
        let mut line = Self {
            run: self.run,
            graph: graph.clone(),
            state: self.state.clone(),
            stop,
            inner: Some(Inner {
                path,
                shown,
                updates: Vec::new(),
            }),
            depth: self.depth + 1,
        };
        if let Some(input) = input {
            line.join_quietly(input, None)?;
        }
        let mut way = None;
        for entry in ended {
            if let Entry::Ended {
                update, next, node, ..
            } = entry
            {
                let node = line.graph.inner.position(&node);
                line.join_quietly(update.clone(), node)?;
                line.inner_mut(|inner| inner.updates.push(update));
                let thread = self.run.recorder.as_ref().map(|it| it.thread().to_string());
                let next = Way::of(&line.graph, &next, &thread.unwrap_or_default());
                way = Some(next.map_err(|source| self.checkpoint_error(source))?);
            }
        }
        Ok((line, way))
    }

    fn inner_mut(&mut self, f: impl FnOnce(&mut Inner)) {
        if let Some(inner) = &mut self.inner {
            f(inner);
        }
    }

    fn join_quietly(&mut self, update: Update, node: Option<usize>) -> Result<(), RunError> {
        let joined = self.graph.inner.strategies.apply(&mut self.state, update);
        joined.map_err(|source| self.update_error(node, source))
    }

    /// What the line added, once it is over.
    pub(super) fn into_updates(self) -> Vec<Update> {
        self.inner.map_or_else(Vec::new, |inner| inner.updates)
    }

    pub(super) fn path(&self) -> &str {
        self.inner.as_ref().map_or("", |inner| &inner.path)
    }

    pub(super) fn shown(&self) -> &str {
        self.inner.as_ref().map_or("", |inner| &inner.shown)
    }

    /// The node with the way to it.
    pub(super) fn place(&self, node: usize) -> String {
        format!("{}{}", self.path(), self.graph.inner.nodes[node].name)
    }

    fn event_name(&self, node: usize) -> Arc<str> {
        let name = &self.graph.inner.nodes[node].name;
        match self.shown() {
            "" => Arc::clone(name),
            shown => format!("{shown}{name}").into(),
        }
    }

    /// Takes the input of a run in, and finds the first node.
    pub(super) async fn enter(
        &mut self,
        began: StateDelta,
        input: Update,
    ) -> Result<Way, RunError> {
        let mut step = Done {
            node: None,
            ran: vec![START.to_owned()],
            updates: Vec::new(),
            asked: Vec::new(),
            effects: Vec::new(),
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
                Way::Branches(parting) => self.part(parting).await?,
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
            return self.hold(node, &place, key).await;
        }
        if let Some(sub) = self.graph.inner.nodes[node].action.sub_graph() {
            let sub = sub.clone();
            return self.pass_through(node, sub).await;
        }
        self.run_node(node, place, told).await
    }

    /// Why the line stops before a node, if it does.
    fn is_held(&self, node: usize) -> Option<&'static str> {
        if self.graph.inner.nodes[node].is_breakpoint {
            return Some("before");
        }
        (self.inner.is_none() && self.run.drain.is_cancelled()).then_some("stop")
    }

    async fn hold(&mut self, node: usize, place: &str, key: &str) -> Result<Next, RunError> {
        let asked = Asked {
            id: self.run.fresh_id(place, key),
            node: place.to_owned(),
            key: key.to_owned(),
            payload: serde_json::Value::Null,
            about: serde_json::Value::Null,
            is_breakpoint: true,
        };
        self.pause(node, Vec::new(), vec![asked], Vec::new()).await
    }

    async fn run_node(&mut self, node: usize, place: String, told: Told) -> Result<Next, RunError> {
        let run = self.run;
        let Some(step) = run.next_step() else {
            return Err(RunError::StepLimit {
                limit: run.step_limit(),
                state: self.state.clone(),
            });
        };
        let name = self.event_name(node);
        run.events
            .emit(GraphEvent::NodeStarted {
                node: Arc::clone(&name),
                step,
            })
            .await;
        let started = Instant::now();
        let output = self.call(node, (step, &place), &told).await?;
        run.events
            .emit(GraphEvent::NodeFinished {
                node: name,
                step,
                duration: started.elapsed(),
            })
            .await;
        let asked = self.asked(&place, &told, output.questions);
        let updates = match output.update.is_empty() {
            true => Vec::new(),
            false => vec![output.update],
        };
        if !asked.is_empty() {
            let paused = self.pause(node, updates, asked, output.effects).await?;
            return self.unless_cancelled(node, paused);
        }
        if output.halts && updates.is_empty() {
            return Ok(Next::Halted);
        }
        let done = Done {
            node: Some(node),
            ran: vec![self.source_name(Some(node))],
            updates,
            asked: Vec::new(),
            effects: output.effects,
        };
        let goto = output.goto;
        let next = self
            .done(done, StateDelta::default(), |line| match goto {
                None => line.follow_edges(Some(node)),
                Some(target) => line.go_to(node, target),
            })
            .await?;
        match output.halts {
            true => Ok(Next::Halted),
            false => self.unless_cancelled(node, next),
        }
    }

    /// A node that finishes on its own ends a cancelled run only now.
    fn unless_cancelled(&self, node: usize, next: Next) -> Result<Next, RunError> {
        let waited = self.graph.inner.nodes[node].action.finishes_on_cancel();
        match waited && self.run.cancellation.is_cancelled() {
            true => Err(self.cancelled()),
            false => Ok(next),
        }
    }

    /// Questions with their ids: one that is still open keeps its own.
    fn asked(&self, place: &str, told: &Told, questions: Vec<Question>) -> Vec<Asked> {
        if questions.is_empty() {
            return Vec::new();
        }
        // What it was told once it is told again, as long as it goes on asking.
        let answered = told.asked.iter().filter(|(_, answer)| answer.is_some());
        let mut all: Vec<Asked> = answered.map(|(asked, _)| asked.clone()).collect();
        for (position, question) in questions.into_iter().enumerate() {
            let key = question.key.unwrap_or_else(|| position.to_string());
            let open = told.asked.iter().find(|(asked, answer)| {
                answer.is_none() && asked.key == key && !asked.is_breakpoint
            });
            let id = match open {
                Some((asked, _)) => asked.id.clone(),
                None => self.run.fresh_id(place, &key),
            };
            all.push(Asked {
                id,
                node: place.to_owned(),
                key,
                payload: question.payload,
                about: question.about,
                is_breakpoint: false,
            });
        }
        all
    }

    /// Goes through a graph that stands in the place of a node.
    async fn pass_through(&mut self, node: usize, sub: CompiledGraph) -> Result<Next, RunError> {
        let name = &self.graph.inner.nodes[node].name;
        let names = (
            format!("{}/", self.place(node)),
            format!("{}{name}-", self.shown()),
        );
        let (mut line, way) = self.inside(&sub, None, names, None)?;
        let end = async {
            let way = match way {
                Some(way) => way,
                None => line.follow_edges(None)?,
            };
            line.follow_inside(way).await
        };
        let end = end.await;
        let updates = line.into_updates();
        let end = end.map_err(|error| error.with_state(self.state.clone()))?;
        if let LineEnd::Paused(asked) = end {
            return self.pause(node, Vec::new(), asked, Vec::new()).await;
        }
        let done = Done {
            node: Some(node),
            ran: vec![self.source_name(Some(node))],
            updates,
            asked: Vec::new(),
            effects: Vec::new(),
        };
        self.done(done, StateDelta::default(), |line| {
            line.follow_edges(Some(node))
        })
        .await
    }

    /// Stays at a node until somebody answers.
    async fn pause(
        &mut self,
        node: usize,
        updates: Vec<Update>,
        asked: Vec<Asked>,
        effects: Vec<String>,
    ) -> Result<Next, RunError> {
        let is_held = asked.iter().all(|asked| asked.is_breakpoint);
        let ran = match is_held && updates.is_empty() {
            true => Vec::new(),
            false => vec![self.source_name(Some(node))],
        };
        let done = Done {
            node: Some(node),
            ran,
            updates,
            asked,
            effects,
        };
        let here = Way::To(Target::Node(node));
        self.done(done, StateDelta::default(), |_| Ok(here)).await
    }

    fn go_to(&self, node: usize, target: String) -> Result<Way, RunError> {
        match self.graph.inner.target(&target) {
            Some(target) => Ok(Way::To(target)),
            None => Err(RunError::UnknownGoto {
                node: self.source_name(Some(node)),
                target,
                state: self.state.clone(),
            }),
        }
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
