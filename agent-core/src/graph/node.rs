//! What a node does and what it returns; closures as nodes.

use std::sync::Arc;

use serde_json::Value;

use super::{NodeContext, State, StateUpdate};
use crate::boxed::{BoxError, BoxFuture};

/// What a node does in its step.
///
/// ```
/// use agent_core::graph::{NodeAction, NodeContext, NodeOutput, State, StateUpdate};
/// use agent_core::{BoxError, BoxFuture};
/// use serde_json::json;
///
/// struct Greet { greeting: String }
///
/// impl NodeAction for Greet {
///     fn run<'a>(
///         &'a self,
///         _state: State,
///         context: &'a NodeContext,
///     ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
///         Box::pin(async move {
///             let text = format!("{} from {}", self.greeting, context.node());
///             Ok(StateUpdate::new().put("text", json!(text)).into())
///         })
///     }
/// }
/// ```
pub trait NodeAction: Send + Sync + 'static {
    /// Runs the node on a snapshot of the state.
    ///
    /// Dropping the future stops the node; it changes nothing then. Drop the snapshot before
    /// returning, else joining the update has to copy what the two share.
    fn run<'a>(
        &'a self,
        state: State,
        context: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>>;

    /// True if a cancelled run waits for this node instead of dropping its future.
    ///
    /// Such a node watches [`NodeContext::cancellation`] itself and returns soon after; its
    /// update is still joined, and the run ends as cancelled. Default: false.
    fn finishes_on_cancel(&self) -> bool {
        false
    }
}

/// What a node returns: an update, and optionally where to go or why to pause.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct NodeOutput {
    /// The changes to the state.
    pub update: StateUpdate,
    /// The node to go to, or [`END`](super::END); overrides the edges of the node.
    pub goto: Option<String>,
    /// Pauses the run after the update was joined; no further node runs.
    pub interrupt: Option<NodeInterrupt>,
}

impl NodeOutput {
    /// An output that only changes the state.
    #[must_use]
    pub fn new(update: StateUpdate) -> Self {
        Self {
            update,
            goto: None,
            interrupt: None,
        }
    }

    /// Goes to this node, or [`END`](super::END), whatever the edges say.
    #[must_use]
    pub fn goto(mut self, target: impl Into<String>) -> Self {
        self.goto = Some(target.into());
        self
    }

    /// Pauses the run after this node.
    #[must_use]
    pub fn interrupt(mut self, payload: impl Into<Value>) -> Self {
        self.interrupt = Some(NodeInterrupt {
            payload: payload.into(),
        });
        self
    }
}

/// Why a node pauses the run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NodeInterrupt {
    /// What the one who is asked should see.
    pub payload: Value,
}

impl From<StateUpdate> for NodeOutput {
    fn from(update: StateUpdate) -> Self {
        Self::new(update)
    }
}

impl From<()> for NodeOutput {
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// What [`StateGraph::node`](super::StateGraph::node) takes: a [`NodeAction`], a shared one,
/// or an async closure over the state, with the [`NodeContext`] as second argument if it
/// needs that.
///
/// `Marker` tells these apart and is never written.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no node",
    note = "a node is an `async |state: State| -> Result<StateUpdate, E>` closure, or implements `NodeAction`"
)]
pub trait IntoNode<Marker> {
    /// The node to run.
    fn into_node(self) -> Arc<dyn NodeAction>;
}

/// Markers of [`IntoNode`].
mod marker {
    #[derive(Debug)]
    pub enum Action {}
    #[derive(Debug)]
    pub enum Shared {}
    #[derive(Debug)]
    pub enum Closure {}
    #[derive(Debug)]
    pub enum ClosureWithContext {}
}

impl<A: NodeAction> IntoNode<marker::Action> for A {
    fn into_node(self) -> Arc<dyn NodeAction> {
        Arc::new(self)
    }
}

impl IntoNode<marker::Shared> for Arc<dyn NodeAction> {
    fn into_node(self) -> Arc<dyn NodeAction> {
        self
    }
}

impl<A: NodeAction> IntoNode<marker::Shared> for Arc<A> {
    fn into_node(self) -> Arc<dyn NodeAction> {
        self
    }
}

impl<F, Fut, O, E> IntoNode<marker::Closure> for F
where
    F: Fn(State) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
    O: Into<NodeOutput>,
    E: Into<BoxError>,
{
    fn into_node(self) -> Arc<dyn NodeAction> {
        Arc::new(ClosureNode(move |state, _: &NodeContext| {
            boxed(self(state))
        }))
    }
}

impl<F, Fut, O, E> IntoNode<marker::ClosureWithContext> for F
where
    F: Fn(State, NodeContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
    O: Into<NodeOutput>,
    E: Into<BoxError>,
{
    fn into_node(self) -> Arc<dyn NodeAction> {
        Arc::new(ClosureNode(move |state, context: &NodeContext| {
            boxed(self(state, context.clone()))
        }))
    }
}

fn boxed<O: Into<NodeOutput>, E: Into<BoxError>>(
    future: impl Future<Output = Result<O, E>> + Send + 'static,
) -> BoxFuture<'static, Result<NodeOutput, BoxError>> {
    Box::pin(async move { future.await.map(Into::into).map_err(Into::into) })
}

struct ClosureNode<F>(F);

impl<F> NodeAction for ClosureNode<F>
where
    F: Fn(State, &NodeContext) -> BoxFuture<'static, Result<NodeOutput, BoxError>>
        + Send
        + Sync
        + 'static,
{
    fn run<'a>(
        &'a self,
        state: State,
        context: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        (self.0)(state, context)
    }
}
