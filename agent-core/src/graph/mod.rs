//! Graphs of nodes that read a state and return updates to it.
//!
//! A [`StateGraph`] is put together from nodes and edges, checked as a whole by
//! [`StateGraph::compile`], and run as often as one likes as a [`CompiledGraph`]. A run is a
//! stream of [`GraphEvent`]s; awaiting it is draining that stream.
//!
//! ```
//! use agent_core::graph::{END, KeyStrategy, START, State, StateError, StateGraph, StateKey, StateUpdate};
//!
//! const SCORES: StateKey<Vec<i32>> = StateKey::new("scores");
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = StateGraph::new()
//!     .key(SCORES, KeyStrategy::Append)
//!     .node("roll", async |_: State| {
//!         Ok::<_, StateError>(StateUpdate::new().with(SCORES, vec![4]))
//!     })
//!     .edge(START, "roll")
//!     .conditional_edges(
//!         "roll",
//!         |state: &State| match state.get(&SCORES) {
//!             Ok(Some(scores)) if scores.len() < 3 => "roll",
//!             _ => END,
//!         },
//!         ["roll", END],
//!     )
//!     .compile()?;
//!
//! let state = graph.run(StateUpdate::new()).await?;
//! assert_eq!(state.get(&SCORES)?, Some(vec![4, 4, 4]));
//! # Ok(())
//! # }
//! ```
//!
//! Not here: models, tools and agents (`agent`); how updates join a state (`state`).

mod builder;
mod check;
mod compiled;
mod edge;
mod error;
mod fault;
mod join;

mod context;
mod node;
mod opened;
mod resume;
mod run;

mod attempt;
mod branches;
pub mod checkpoint;
mod edit;
mod events;
mod inside;
mod line;
mod pause;
#[cfg(feature = "retry")]
mod retry;
mod runner;
mod settle;
mod step;
mod way;

mod picture;

pub use crate::answer::AnswerError;
pub use crate::state::{
    CustomStrategy, KeyStrategies, KeyStrategy, State, StateError, StateKey, StateUpdate,
};
pub use branches::FanOut;
pub use builder::StateGraph;
pub use compiled::CompiledGraph;
pub(crate) use context::Notebook;
pub use context::{Extensions, NodeContext};
pub use edge::{IntoRoute, Route};
pub use edit::StateEdit;
pub use error::RunError;
pub use events::StreamMode;
pub use fault::{GraphError, GraphFault};
pub(crate) use node::Question;
pub use node::{IntoNode, NodeAction, NodeInterrupt, NodeOutput};
pub use resume::Answer;
#[cfg(feature = "retry")]
pub use retry::NodeRetry;
pub use run::{GraphEvent, GraphRun, GraphStream};
pub use tokio_util::sync::CancellationToken;

/// Where every run begins. No node; only edges leave it.
pub const START: &str = "__START__";

/// Where a run ends. No node; only edges lead to it.
pub const END: &str = "__END__";
