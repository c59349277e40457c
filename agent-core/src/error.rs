//! One error for applications that put everything behind one `?`. No module of ours returns it.

use crate::agent::{BuildError, SendError, error::AgentError};
use crate::graph::checkpoint::CheckpointError;
use crate::graph::{GraphError, RunError, StateError};
use crate::message::TranscriptError;
use crate::model::ModelError;
use crate::model::cassette::CassetteError;
use crate::schema::SchemaError;
use crate::tool::{ToolError, ToolSetError};

/// Any error of this crate.
///
/// ```
/// use agent_core::{Error, ReactAgent, model::{ScriptedModel, scripted::says}};
///
/// async fn ask() -> Result<String, Error> {
///     let agent = ReactAgent::builder("assistant", ScriptedModel::new([says("Hello.")])).build()?;
///     Ok(agent.run("Hi").await?.text().to_owned())
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
// No variant is named like a trait or a type that rustc tells of: it would write their paths in full
// in every error, `std::marker::Send` for `Send`.
pub enum Error {
    /// A run failed.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// An agent could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A graph could not be compiled.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A graph's run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A state refused an update or a read.
    #[error(transparent)]
    State(#[from] StateError),
    /// Messages do not pair.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// A model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// Tools are no set.
    #[error(transparent)]
    Tools(#[from] ToolSetError),
    /// A JSON Schema is none, or not one that can be used.
    #[error(transparent)]
    BadSchema(#[from] SchemaError),
    /// A thread cannot be read or changed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A message did not reach a run.
    #[error(transparent)]
    Unsent(#[from] SendError),
    /// Recorded model calls cannot be read or written.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
}
