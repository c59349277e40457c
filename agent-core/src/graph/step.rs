//! One node at work, and the edges behind it.

use std::sync::Arc;
use std::time::Instant;

use super::branches::Parting;
use super::compiled::{Next as Behind, Target};
use super::edge::Router;
use super::line::{Done, Line, Next};
use super::runner::Told;
use super::way::Way;
use super::{GraphEvent, RunError, StreamMode};
use crate::panics;
use crate::state::delta::StateDelta;

impl Line<'_> {
    /// Runs a node, and finds what comes after it.
    pub(super) async fn run_node(
        &mut self,
        node: usize,
        place: Arc<str>,
        told: Told,
    ) -> Result<Next, RunError> {
        let run = self.run;
        let Some(step) = run.next_step() else {
            return Err(RunError::StepLimit {
                limit: run.step_limit(),
                state: self.state.clone(),
            });
        };
        let name = self.event_name(node);
        if run.events.tells(StreamMode::Nodes) {
            let node = Arc::clone(&name);
            let started = GraphEvent::NodeStarted { node, step };
            run.events.emit(started).await;
        }
        let started = run.events.tells(StreamMode::Nodes).then(Instant::now);
        let output = self.call(node, (&name, &place, step), &told).await?;
        if let Some(started) = started {
            let duration = started.elapsed();
            let node = Arc::clone(&name);
            let finished = GraphEvent::NodeFinished {
                node,
                step,
                duration,
            };
            run.events.emit(finished).await;
        }
        let asked = self.asked(&place, &told, output.questions);
        let updates = match output.update.is_empty() {
            true => Vec::new(),
            false => vec![output.update],
        };
        let is_asking = !asked.is_empty();
        if output.halts && updates.is_empty() && !is_asking {
            return Ok(Next::Halted);
        }
        let ran = match self.is_unheard() {
            true => Vec::new(),
            false => vec![self.node_name(node)],
        };
        let mut done = Done {
            updates,
            asked,
            effects: output.effects,
            speaker: Some(name),
            ..Done::of(Some(node), ran)
        };
        if is_asking {
            // Boxed, because it is rare: every step would have room for it.
            let paused = Box::pin(self.pause(node, done)).await?;
            return self.unless_cancelled(node, paused);
        }
        done.asked = self.held_after(node, &place, output.pause);
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

    /// Finds what the edges of a node, or of the start if there is none, lead to.
    pub(super) fn follow_edges(&self, node: Option<usize>) -> Result<Way, RunError> {
        let (router, routes) = match self.graph.inner.next(node) {
            Behind::Edge(target) => return Ok(Way::To(*target)),
            Behind::Branches(targets, join) => {
                return Ok(Way::Branches(Parting::new(node, targets, *join)));
            }
            Behind::Each(each) => return self.part_for_each(node, each),
            Behind::Goto => {
                return Err(RunError::NoWayOn {
                    node: self.source_name(node),
                    state: self.state.clone(),
                });
            }
            Behind::Conditional(router, routes) => (router, routes),
        };
        let state = &self.state;
        let choose = match router {
            Router::ByName(choose) => choose,
            Router::ByPosition(choose) => {
                let position = panics::caught(|| choose(state));
                let position = position.ok_or_else(|| self.panicked(node))?;
                return match routes.get(position) {
                    Some((_, target)) => Ok(Way::To(*target)),
                    None => Err(self.router_error(node, "it chose no route".into())),
                };
            }
        };
        let chosen = match panics::caught(|| choose(state)) {
            None => return Err(self.panicked(node)),
            Some(Err(source)) => return Err(self.router_error(node, source)),
            Some(Ok(chosen)) => chosen,
        };
        let mut targets: Vec<Target> = Vec::with_capacity(chosen.len());
        for route in chosen {
            let Some((_, target)) = routes.iter().find(|(name, _)| *name == route) else {
                return Err(RunError::UnknownRoute {
                    node: self.source_name(node),
                    route,
                    state: state.clone(),
                });
            };
            if !targets.contains(target) {
                targets.push(*target);
            }
        }
        match targets.as_slice() {
            [] => Err(self.router_error(node, "it chose no route".into())),
            [target] => Ok(Way::To(*target)),
            targets => match self.graph.inner.joins.nearest(targets) {
                Some(join) => Ok(Way::Branches(Parting::new(node, targets, join))),
                None => Err(self.router_error(node, "the branches it chose never meet".into())),
            },
        }
    }

    pub(super) fn router_error(
        &self,
        node: Option<usize>,
        source: crate::boxed::BoxError,
    ) -> RunError {
        RunError::Router {
            node: self.source_name(node),
            source,
            state: self.state.clone(),
        }
    }

    pub(super) fn panicked(&self, node: Option<usize>) -> RunError {
        RunError::Panicked {
            node: self.source_name(node),
            state: self.state.clone(),
        }
    }
}
