//! One node at work, and the edges behind it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt as _;

use super::branches::Parting;
use super::compiled::{Next, Target};
use super::line::Line;
use super::runner::Told;
use super::way::Way;
use super::{NodeContext, NodeOutput, RunError};

impl Line<'_> {
    /// Runs a node on a snapshot.
    ///
    /// The snapshot is gone when this returns, so that joining the update copies nothing.
    pub(super) async fn call(
        &self,
        node: usize,
        (step, place): (u64, &str),
        told: &Told,
    ) -> Result<NodeOutput, RunError> {
        let action = &self.graph.inner.nodes[node].action;
        let name = Arc::clone(&self.graph.inner.nodes[node].name);
        let context = NodeContext::of_run(self.run, (name, place), step, told.clone());
        let state = self.state.clone();
        // The async block takes in a panic before the first await as well.
        let running = AssertUnwindSafe(async { action.run(state, &context).await }).catch_unwind();
        let caught = match action.finishes_on_cancel() {
            true => running.await,
            false => tokio::select! {
                biased;
                () = self.run.cancellation.cancelled() => return Err(self.cancelled()),
                caught = running => caught,
            },
        };
        match caught {
            Err(_) => Err(self.panicked(Some(node))),
            Ok(Ok(output)) => Ok(output),
            Ok(Err(source)) => Err(RunError::Node {
                node: self.source_name(Some(node)),
                source,
                state: self.state.clone(),
            }),
        }
    }

    /// Finds what the edges of a node, or of the start if there is none, lead to.
    pub(super) fn follow_edges(&self, node: Option<usize>) -> Result<Way, RunError> {
        let (router, routes) = match self.graph.inner.next(node) {
            Next::Edge(target) => return Ok(Way::To(*target)),
            Next::Branches(targets, join) => {
                return Ok(Way::Branches(Parting::new(node, targets, *join)));
            }
            Next::Each(each) => return self.part_for_each(node, each),
            Next::Goto => {
                return Err(RunError::NoWayOn {
                    node: self.source_name(node),
                    state: self.state.clone(),
                });
            }
            Next::Conditional(router, routes) => (router, routes),
        };
        let state = &self.state;
        let chosen = match catch_unwind(AssertUnwindSafe(|| router.choose(state))) {
            Err(_) => return Err(self.panicked(node)),
            Ok(Err(source)) => return Err(self.router_error(node, source)),
            Ok(Ok(chosen)) => chosen,
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
