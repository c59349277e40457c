//! One node at work: in its time, and again if it failed and is to be tried again.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::line::Line;
#[cfg(feature = "retry")]
use super::retry::NodeRetry;
use super::runner::Told;
use super::{AnswerError, NodeContext, NodeOutput, RunError};
#[cfg(feature = "retry")]
use super::{GraphEvent, StreamMode};
use crate::boxed::{BoxError, BoxFuture};
use crate::{cancelled, panics};

impl Line<'_> {
    /// Runs a node on a snapshot until it goes well or nothing tries it again.
    ///
    /// The snapshot is gone when this returns, so that joining the update copies nothing.
    pub(super) async fn call(
        &self,
        node: usize,
        names: (&Arc<str>, &str, u64),
        told: &Told,
    ) -> Result<NodeOutput, RunError> {
        // Boxed, because it is rare: every node would have room for it.
        #[cfg(feature = "retry")]
        if let Some(retry) = &self.graph.inner.nodes[node].retry {
            return Box::pin(self.tries(retry, node, names, told)).await;
        }
        let context = self.context(names, 1, (node, told));
        self.attempt(node, &context).await
    }

    #[cfg(feature = "retry")]
    async fn tries(
        &self,
        retry: &NodeRetry,
        node: usize,
        names: (&Arc<str>, &str, u64),
        told: &Told,
    ) -> Result<NodeOutput, RunError> {
        let (name, _, step) = names;
        let mut delays = retry.backoff.delays();
        let mut attempt = 1;
        loop {
            let context = self.context(names, attempt, (node, told));
            let error = match self.attempt(node, &context).await {
                Err(error) if retry.helps(&error) => error,
                end => return end,
            };
            let Some(delay) = delays.next() else {
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

    fn context(
        &self,
        (name, place, step): (&Arc<str>, &str, u64),
        attempt: u32,
        (node, told): (usize, &Told),
    ) -> NodeContext {
        let own = Arc::clone(&self.graph.inner.nodes[node].name);
        NodeContext::of_run(self.run, own, (name, place), (step, attempt), told)
    }

    async fn attempt(&self, node: usize, context: &NodeContext) -> Result<NodeOutput, RunError> {
        let place = &self.graph.inner.nodes[node];
        let state = self.state.clone();
        let begun = panics::caught(|| place.action.run(state, context));
        let Some(begun) = begun else {
            return Err(self.panicked(Some(node)));
        };
        let mut running = Action(Some(begun));
        let ended = match (place.timeout, place.action.finishes_on_cancel()) {
            (None, true) => (&mut running).await,
            (_, finishes) => self.watched(node, &mut running, finishes).await?,
        };
        match ended {
            None => Err(self.panicked(Some(node))),
            Some(Ok(output)) => Ok(output),
            Some(Err(source)) => Err(match AnswerError::within(&*source).cloned() {
                Some(unfit) => self.checkpoint_error(unfit.into()),
                None => RunError::Node {
                    node: self.source_name(Some(node)),
                    source,
                    state: self.state.clone(),
                },
            }),
        }
    }

    /// Waits for a node as long as it has time, and, unless it finishes by itself, as long as the
    /// run is not cancelled.
    async fn watched(
        &self,
        node: usize,
        running: &mut Action<'_>,
        finishes: bool,
    ) -> Result<Ended, RunError> {
        let running = self.in_time(node, async { Ok(running.await) });
        if finishes {
            return running.await;
        }
        let token = &self.run.cancellation;
        tokio::select! {
            biased;
            () = cancelled::already(token) => Err(self.cancelled()),
            ended = running => ended,
            // Many nodes are done at once, and need nobody to watch this.
            () = token.cancelled() => Err(self.cancelled()),
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

/// How a node ended; `None` if it panicked.
type Ended = Option<Result<NodeOutput, BoxError>>;

/// A node at work. One that panics, also while it is dropped as it took too long or lost against
/// another, does not take the run with it.
struct Action<'a>(Option<BoxFuture<'a, Result<NodeOutput, BoxError>>>);

impl Future for Action<'_> {
    type Output = Ended;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended> {
        let Some(action) = &mut self.0 else {
            return Poll::Pending;
        };
        match panics::caught(|| action.as_mut().poll(context)) {
            None => Poll::Ready(None),
            Some(polled) => polled.map(Some),
        }
    }
}

impl Drop for Action<'_> {
    fn drop(&mut self) {
        panics::let_go(self.0.take());
    }
}
