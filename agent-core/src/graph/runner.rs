//! The loop over the steps of a run; the only one.
//!
//! A step is: look at the token and the limit, run one node on a snapshot, join its update,
//! find what comes next. The runner is polled for events and never spawns, so dropping it
//! drops the node that is running.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;

use super::compiled::{Next, Target};
use super::{GraphEvent, GraphRun, NodeContext, NodeOutput, RunError, START, State, StateUpdate};
use crate::boxed::BoxError;

pub(super) struct Runner {
    run: GraphRun,
    phase: Phase,
    /// Steps so far.
    step: u64,
    /// Events that were made and not yet asked for.
    events: VecDeque<Result<GraphEvent, RunError>>,
}

/// What the runner does when it is asked for the next event.
#[derive(Clone, Copy)]
enum Phase {
    Begin,
    Enter(Target),
    Run(usize),
    Done,
}

impl Runner {
    pub(super) fn new(run: GraphRun) -> Self {
        Self {
            run,
            phase: Phase::Begin,
            step: 0,
            events: VecDeque::new(),
        }
    }

    /// The next event of the run; `None` after the last.
    pub(super) async fn next_event(&mut self) -> Option<Result<GraphEvent, RunError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let advanced = match self.phase {
                Phase::Begin => self.begin(),
                Phase::Enter(target) => self.enter(target),
                Phase::Run(node) => {
                    // Nodes that never wait would keep the thread from everybody else.
                    tokio::task::consume_budget().await;
                    self.run_node(node).await
                }
                Phase::Done => return None,
            };
            match advanced {
                Ok(phase) => self.phase = phase,
                Err(error) => {
                    self.phase = Phase::Done;
                    self.events.push_back(Err(error));
                }
            }
        }
    }

    fn begin(&mut self) -> Result<Phase, RunError> {
        let update = std::mem::take(&mut self.run.update);
        self.join(None, update)?;
        self.follow_edges(None)
    }

    fn enter(&mut self, target: Target) -> Result<Phase, RunError> {
        let node = match target {
            Target::End => {
                let state = std::mem::take(&mut self.run.state);
                self.emit(GraphEvent::Finished(state));
                return Ok(Phase::Done);
            }
            Target::Node(node) => node,
        };
        if self.run.cancellation.is_cancelled() {
            return Err(self.cancelled());
        }
        if self.step >= self.run.step_limit {
            return Err(RunError::StepLimit {
                limit: self.run.step_limit,
                state: self.run.state.clone(),
            });
        }
        self.step += 1;
        self.emit(GraphEvent::NodeStarted {
            node: self.name(node),
            step: self.step,
        });
        Ok(Phase::Run(node))
    }

    async fn run_node(&mut self, node: usize) -> Result<Phase, RunError> {
        let started = Instant::now();
        let output = match self.call(node).await {
            None => return Err(self.cancelled()),
            Some(Err(Panicked)) => return Err(self.panicked(Some(node))),
            Some(Ok(Err(source))) => {
                return Err(RunError::Node {
                    node: self.name(node).to_string(),
                    source,
                    state: self.run.state.clone(),
                });
            }
            Some(Ok(Ok(output))) => output,
        };
        self.emit(GraphEvent::NodeFinished {
            node: self.name(node),
            step: self.step,
            duration: started.elapsed(),
        });
        self.join(Some(node), output.update)?;

        let waited = self.run.graph.inner.nodes[node].action.finishes_on_cancel();
        if waited && self.run.cancellation.is_cancelled() {
            return Err(self.cancelled());
        }
        if let Some(interrupt) = output.interrupt {
            let event = GraphEvent::Interrupted {
                node: self.name(node),
                interrupt,
                state: self.run.state.clone(),
            };
            self.emit(event);
            return Ok(Phase::Done);
        }
        match output.goto {
            None => self.follow_edges(Some(node)),
            Some(target) => match self.run.graph.inner.target(&target) {
                Some(target) => Ok(Phase::Enter(target)),
                None => Err(RunError::UnknownGoto {
                    node: self.name(node).to_string(),
                    target,
                    state: self.run.state.clone(),
                }),
            },
        }
    }

    /// Runs a node on a snapshot; `None` if the run was cancelled and the node dropped.
    ///
    /// The snapshot is gone when this returns, so that joining the update copies nothing.
    async fn call(&self, node: usize) -> Option<Result<Result<NodeOutput, BoxError>, Panicked>> {
        let action = &self.run.graph.inner.nodes[node].action;
        let context = NodeContext::of_run(
            self.name(node),
            self.step,
            self.run.cancellation.clone(),
            Arc::clone(&self.run.extensions),
        );
        let state = self.run.state.clone();
        // The async block takes in a panic before the first await as well.
        let running = AssertUnwindSafe(async { action.run(state, &context).await })
            .catch_unwind()
            .map(|caught| caught.map_err(|_| Panicked));
        if action.finishes_on_cancel() {
            return Some(running.await);
        }
        tokio::select! {
            biased;
            () = self.run.cancellation.cancelled() => None,
            output = running => Some(output),
        }
    }

    /// Joins an update of a node, or of the input if there is none.
    fn join(&mut self, node: Option<usize>, update: StateUpdate) -> Result<(), RunError> {
        if update.is_empty() {
            return Ok(());
        }
        let keys = update.keys().into_iter().map(str::to_owned).collect();
        let strategies = &self.run.graph.inner.strategies;
        let state: &mut State = &mut self.run.state;
        if let Err(source) = strategies.apply(state, update) {
            return Err(RunError::Update {
                node: self.source_name(node),
                source: Box::new(source),
                state: self.run.state.clone(),
            });
        }
        self.emit(GraphEvent::StateUpdated { keys });
        Ok(())
    }

    /// Finds what the edges of a node, or of the start if there is none, lead to.
    fn follow_edges(&self, node: Option<usize>) -> Result<Phase, RunError> {
        let (router, routes) = match self.run.graph.inner.next(node) {
            Next::Edge(target) => return Ok(Phase::Enter(*target)),
            Next::Goto => {
                return Err(RunError::NoWayOn {
                    node: self.source_name(node),
                    state: self.run.state.clone(),
                });
            }
            Next::Conditional(router, routes) => (router, routes),
        };
        let state = &self.run.state;
        let route = match catch_unwind(AssertUnwindSafe(|| router.choose(state))) {
            Err(_) => return Err(self.panicked(node)),
            Ok(Err(source)) => {
                return Err(RunError::Router {
                    node: self.source_name(node),
                    source,
                    state: state.clone(),
                });
            }
            Ok(Ok(route)) => route,
        };
        match routes.iter().find(|(name, _)| *name == route) {
            Some((_, target)) => Ok(Phase::Enter(*target)),
            None => Err(RunError::UnknownRoute {
                node: self.source_name(node),
                route,
                state: state.clone(),
            }),
        }
    }

    fn emit(&mut self, event: GraphEvent) {
        self.events.push_back(Ok(event));
    }

    fn name(&self, node: usize) -> Arc<str> {
        Arc::clone(&self.run.graph.inner.nodes[node].name)
    }

    fn source_name(&self, node: Option<usize>) -> String {
        node.map_or_else(|| START.to_owned(), |node| self.name(node).to_string())
    }

    fn cancelled(&self) -> RunError {
        RunError::Cancelled {
            state: self.run.state.clone(),
        }
    }

    fn panicked(&self, node: Option<usize>) -> RunError {
        RunError::Panicked {
            node: self.source_name(node),
            state: self.run.state.clone(),
        }
    }
}

/// User code panicked; the message went to the panic hook.
struct Panicked;
