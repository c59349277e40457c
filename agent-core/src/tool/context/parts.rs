//! What a context is put together from: of the run, of the turn and of the call.

use std::any::Any;
use std::sync::Arc;

use serde_json::{Map, Value};
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;

use super::{CallAnswer, Progress};
use crate::message::Message;
use crate::secrets::Secrets;
use crate::state::State;
use crate::tool::ToolCallback;
use crate::tool::host::Hosts;
use crate::tool::place::Leftovers;

/// What is the same for every call of a run.
#[derive(Clone, Default)]
pub(crate) struct RunContext {
    pub(crate) run_id: Arc<str>,
    pub(crate) thread_id: Option<Arc<str>>,
    pub(crate) hosts: Hosts,
    pub(crate) metadata: Arc<Map<String, Value>>,
    pub(crate) blocking_in_place: bool,
    pub(crate) leftovers: Leftovers,
    pub(crate) secrets: Secrets,
}

/// What is the same for every call of a turn.
#[derive(Default)]
pub(crate) struct TurnContext {
    pub(crate) run: Arc<RunContext>,
    /// The message that holds the calls; the last one before it, for calls that begin before it is
    /// whole.
    pub(crate) message: Option<Message>,
    pub(crate) state: State,
    /// The run's token.
    pub(crate) cancellation: CancellationToken,
    /// What a run within a call needs to know of this one; only the agent knows its type.
    pub(crate) scope: Option<Arc<dyn Any + Send + Sync>>,
}

/// What is special to one call; see the getters of [`ToolContext`](super::ToolContext).
pub(crate) struct CallContext {
    pub(crate) call_id: CallId,
    pub(crate) tool: Arc<dyn ToolCallback>,
    pub(crate) deadline: tokio::time::Instant,
    /// The call's span.
    pub(crate) span: tracing::Span,
    pub(crate) progress: Option<Progress>,
    /// Where what is told within the call goes, if somebody listens; only the agent knows its
    /// type.
    pub(crate) gate: Option<Arc<dyn Any + Send + Sync>>,
    /// The answers to what the call asked, in order.
    pub(crate) answers: Vec<CallAnswer>,
}

pub(crate) enum CallId {
    /// That of the call at this position of the turn's message.
    At(usize),
    /// That of a call whose message is not whole yet.
    Own(SmolStr),
}
