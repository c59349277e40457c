//! What a node does and what it returns; closures as nodes.

use std::sync::Arc;

use serde_json::Value;

use super::checkpoint::record::Asked;
use super::{CompiledGraph, NodeContext, State, StateUpdate};
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

    /// The graph that stands in this node's place, if it is one: a run goes through it step by
    /// step instead of calling [`run`](Self::run). Default: none.
    fn sub_graph(&self) -> Option<&CompiledGraph> {
        None
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
    /// Why the run pauses.
    pub(crate) questions: Vec<Question>,
    /// What the node did outside that counts each time.
    pub(crate) effects: Vec<String>,
    /// Why the run pauses behind the node.
    pub(crate) pause: Option<Value>,
    /// True if the run ends here, to go on behind the node if it is resumed; before the node, if
    /// that changes nothing.
    pub(crate) halts: bool,
}

/// Something a node wants to know before the run goes on.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) key: Option<String>,
    pub(crate) payload: Value,
    /// What the node needs to know of it later.
    pub(crate) about: Value,
}

impl NodeOutput {
    /// An output that only changes the state.
    #[must_use]
    pub fn new(update: StateUpdate) -> Self {
        Self {
            update,
            ..Self::default()
        }
    }

    /// Goes to this node, or [`END`](super::END), whatever the edges say.
    #[must_use]
    pub fn goto(mut self, target: impl Into<String>) -> Self {
        self.goto = Some(target.into());
        self
    }

    /// Pauses the run at this node, to ask somebody; calls add up to several questions.
    ///
    /// The update is joined before the pause. When the run is resumed, the node runs again and
    /// finds the answers in its context, by the position of the question, from `"0"`: see
    /// [`NodeContext::answer`].
    #[must_use]
    pub fn interrupt(self, payload: impl Into<Value>) -> Self {
        self.question(None, payload.into())
    }

    /// As [`interrupt`](Self::interrupt), with a name by which the answer is found:
    /// [`NodeContext::answer_to`]. A node asks each name once at a time.
    #[must_use]
    pub fn ask(self, name: impl Into<String>, payload: impl Into<Value>) -> Self {
        self.question(Some(name.into()), payload.into())
    }

    /// Pauses the run behind this node, which has done its work: a resume needs no answer and goes
    /// on where the node leads. The way on is found before the pause.
    #[must_use]
    pub fn pause_after(mut self, payload: impl Into<Value>) -> Self {
        self.pause = Some(payload.into());
        self
    }

    /// Asks several things.
    pub(crate) fn asking(mut self, questions: Vec<Question>) -> Self {
        self.questions.extend(questions);
        self
    }

    /// Ends the run here; see [`NodeOutput::halts`].
    pub(crate) fn halting(mut self) -> Self {
        self.halts = true;
        self
    }

    fn question(mut self, key: Option<String>, payload: Value) -> Self {
        self.questions.push(Question {
            key,
            payload,
            about: Value::Null,
        });
        self
    }
}

/// Why a run pauses, and who waits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NodeInterrupt {
    /// By which it is answered: see [`Answer`](super::Answer). The same as long as it waits.
    pub id: String,
    /// The node that waits, with the way to it through branches and graphs.
    pub node: String,
    /// Which of the node's questions it is.
    pub key: String,
    /// What the one who is asked should see.
    pub payload: Value,
    /// True if nobody is asked: the run was to stop before this node, or behind it, and any resume
    /// goes on.
    pub is_breakpoint: bool,
    pub(crate) about: Value,
}

impl NodeInterrupt {
    /// The same question once more.
    pub(crate) fn again(&self) -> Question {
        Question {
            key: Some(self.key.clone()),
            payload: self.payload.clone(),
            about: self.about.clone(),
        }
    }

    pub(super) fn of(asked: &Asked) -> Self {
        Self {
            id: asked.id.clone(),
            node: asked.node.clone(),
            key: asked.key.clone(),
            payload: asked.payload.clone(),
            is_breakpoint: asked.is_breakpoint,
            about: asked.about.clone(),
        }
    }
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
    #[derive(Debug)]
    pub enum Graph {}
}

impl<A: NodeAction> IntoNode<marker::Action> for A {
    fn into_node(self) -> Arc<dyn NodeAction> {
        Arc::new(self)
    }
}

/// The graph runs in the node's place: on the state of the run, to which it adds what its nodes
/// add. Its own key strategies hold for keys that the graph around it does not declare.
impl IntoNode<marker::Graph> for CompiledGraph {
    fn into_node(self) -> Arc<dyn NodeAction> {
        Arc::new(GraphNode(self))
    }
}

struct GraphNode(CompiledGraph);

impl NodeAction for GraphNode {
    fn run<'a>(
        &'a self,
        _: State,
        _: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        Box::pin(std::future::ready(Err("a graph is not called".into())))
    }

    fn sub_graph(&self) -> Option<&CompiledGraph> {
        Some(&self.0)
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
