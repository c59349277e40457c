//! One node at work: in its time, and again if it failed and is to be tried again.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;

use super::line::Line;
use super::runner::Told;
use super::{AnswerError, NodeContext, NodeOutput, RunError};
use crate::boxed::{BoxError, BoxFuture};
use crate::panics;

impl Line<'_> {
    /// Runs a node on a snapshot until it goes well or nothing tries it again.
    ///
    /// The snapshot is gone when this returns, so that joining the update copies nothing.
    #[cfg(feature = "retry")]
    pub(super) async fn call(
        &self,
        node: usize,
        (name, place, step): (&Arc<str>, &str, u64),
        told: &Told,
    ) -> Result<NodeOutput, RunError> {
        use super::{GraphEvent, StreamMode};

        let retry = self.graph.inner.nodes[node].retry.as_ref();
        let mut delays = retry.map(|retry| retry.backoff.delays());
        let mut attempt = 1;
        loop {
            let context = self.context((name, place), (step, attempt), (node, told));
            let error = match self.attempt(node, &context).await {
                Err(error) if retry.is_some_and(|retry| retry.helps(&error)) => error,
                end => return end,
            };
            let Some(delay) = delays.as_mut().and_then(Iterator::next) else {
                return Err(error);
            };
            attempt += 1;
            tracing::info!({ node = &**name, attempt, ?delay, %error }, "running the node again");
            if self.run.events.tells(StreamMode::Nodes) {
                let retried = GraphEvent::NodeRetried {
                    node: Arc::clone(name),
                    step,
                    attempt,
                    delay,
                    error: error.cause().into(),
                };
                self.run.events.emit(retried).await;
            }
            tokio::select! {
                biased;
                () = self.run.cancellation.cancelled() => return Err(self.cancelled()),
                () = tokio::time::sleep(delay) => {}
            }
        }
    }

    /// Runs a node on a snapshot.
    #[cfg(not(feature = "retry"))]
    pub(super) async fn call(
        &self,
        node: usize,
        (name, place, step): (&Arc<str>, &str, u64),
        told: &Told,
    ) -> Result<NodeOutput, RunError> {
        let context = self.context((name, place), (step, 1), (node, told));
        self.attempt(node, &context).await
    }

    fn context(
        &self,
        names: (&Arc<str>, &str),
        tries: (u64, u32),
        (node, told): (usize, &Told),
    ) -> NodeContext {
        let name = Arc::clone(&self.graph.inner.nodes[node].name);
        NodeContext::of_run(self.run, name, names, tries, told)
    }

    async fn attempt(&self, node: usize, context: &NodeContext) -> Result<NodeOutput, RunError> {
        let action = &self.graph.inner.nodes[node].action;
        let state = self.state.clone();
        // The async block takes in a panic before the first await as well.
        let running = async { Action(Some(action.run(state, context))).await };
        let running = AssertUnwindSafe(running).catch_unwind();
        let running = async {
            match running.await {
                Err(payload) => {
                    panics::forget(payload);
                    Err(self.panicked(Some(node)))
                }
                Ok(Ok(output)) => Ok(output),
                Ok(Err(source)) => Err(match AnswerError::within(&*source).cloned() {
                    Some(unfit) => self.checkpoint_error(unfit.into()),
                    None => RunError::Node {
                        node: self.source_name(Some(node)),
                        source,
                        state: self.state.clone(),
                    },
                }),
            }
        };
        let running = self.in_time(node, running);
        match action.finishes_on_cancel() {
            true => running.await,
            false => tokio::select! {
                biased;
                () = self.run.cancellation.cancelled() => Err(self.cancelled()),
                end = running => end,
            },
        }
    }

    /// What a node does in its time, if it has one; then it is dropped.
    pub(super) async fn in_time<T>(
        &self,
        node: usize,
        work: impl Future<Output = Result<T, RunError>>,
    ) -> Result<T, RunError> {
        let Some(limit) = self.graph.inner.nodes[node].timeout else {
            return work.await;
        };
        match tokio::time::timeout(limit, work).await {
            Ok(end) => end,
            Err(_) => Err(RunError::TimedOut {
                node: self.source_name(Some(node)),
                limit,
                state: self.state.clone(),
            }),
        }
    }
}

/// A node at work. One that panics while it is dropped, as it took too long or lost against
/// another, does not take the run with it.
struct Action<'a>(Option<BoxFuture<'a, Result<NodeOutput, BoxError>>>);

impl Future for Action<'_> {
    type Output = Result<NodeOutput, BoxError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Some(action) => action.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl Drop for Action<'_> {
    fn drop(&mut self) {
        panics::let_go(self.0.take());
    }
}
