//! What a tool may know and do beside its arguments. Nothing here reaches the model.

mod answers;
mod ending;
mod parts;
mod progress;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) use answers::CallAnswer;
pub(crate) use parts::{CallContext, CallId, RunContext, TurnContext};
pub use progress::Emit;
pub(crate) use progress::Progress;

use super::cancel::CancelCallbacks;
use super::place::Place;
use crate::secrets::Secrets;
use crate::state::{State, StateError, StateUpdate};

/// With which the handle of a whole result begins.
pub(crate) const RESULT: &str = "result";

/// What a tool call may know of its run, and the ways it can speak to it.
///
/// A parameter of type `&ToolContext` gets it; it is left out of the schema. Cloning is
/// cheap and gives the same context. `ToolContext::default()` is for tests.
///
/// ```
/// use agent_core::{ToolContext, ToolError};
///
/// fn long_work(context: &ToolContext) -> Result<u32, ToolError> {
///     let mut sum = 0;
///     for part in 0..10 {
///         context.check_cancelled()?;
///         sum += part;
///     }
///     Ok(sum)
/// }
/// assert_eq!(long_work(&ToolContext::default()).unwrap(), 45);
/// ```
#[derive(Clone, Default)]
pub struct ToolContext(Arc<Inner>);

#[derive(Default)]
struct Inner {
    turn: Arc<TurnContext>,
    call: Option<CallContext>,
    /// Made when somebody asks for it: most calls never do.
    cancellation: OnceLock<CancellationToken>,
    callbacks: OnceLock<Arc<CancelCallbacks>>,
    updates: Mutex<StateUpdate>,
    place: OnceLock<Place>,
    attempt: AtomicU32,
}

impl ToolContext {
    pub(crate) fn for_call(turn: Arc<TurnContext>, call: CallContext) -> Self {
        Self(Arc::new(Inner {
            turn,
            call: Some(call),
            cancellation: OnceLock::new(),
            callbacks: OnceLock::new(),
            updates: Mutex::default(),
            place: OnceLock::new(),
            attempt: AtomicU32::new(1),
        }))
    }

    fn run(&self) -> &RunContext {
        &self.0.turn.run
    }

    pub(crate) fn turn(&self) -> &TurnContext {
        &self.0.turn
    }

    /// What is special to this call; `None` for a context that belongs to no run, as in a test.
    pub(crate) fn call(&self) -> Option<&CallContext> {
        self.0.call.as_ref()
    }

    /// The id of the run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run().run_id
    }

    /// The id of the thread, if the run belongs to one.
    #[must_use]
    pub fn thread_id(&self) -> Option<&str> {
        self.run().thread_id.as_deref()
    }

    /// The provider's id of this call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        match self.call().map(|call| &call.call_id) {
            Some(CallId::Own(id)) => id,
            Some(CallId::At(position)) => {
                let message = self.turn().message.as_ref();
                let call = message.and_then(|message| message.tool_calls().get(*position));
                call.map_or("", |call| &call.id)
            }
            None => "",
        }
    }

    /// The name of the tool that runs.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        self.call().map_or("", |call| call.tool.definition().name())
    }

    /// When the call's time is over.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.call().map(|call| call.deadline.into_std())
    }

    /// Which try of the call this is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.attempt.load(Ordering::Relaxed).max(1)
    }

    /// Begins the next try of the call; what the last one wrote to the state does not count.
    #[cfg_attr(
        not(feature = "retry"),
        allow(dead_code, reason = "only retries try again")
    )]
    pub(crate) fn try_again(&self) {
        drop(self.take_updates());
        self.0.attempt.fetch_add(1, Ordering::Relaxed);
    }

    /// A text that is the same whenever this very call runs, for services that take one.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let scope = self.thread_id().unwrap_or(self.run_id());
        // The lengths in front keep two different calls from giving one key.
        format!("{}:{scope}:{}", scope.len(), self.call_key())
    }

    /// What no other call of the thread, or of the run, has.
    pub(crate) fn call_key(&self) -> String {
        // Some providers begin to count call ids anew in each reply.
        let message = self.turn().message.as_ref();
        let message = message.map_or_else(|| "0::".to_owned(), |message| message.id().key());
        format!("{message}{}", self.call_id())
    }

    /// A value the host program lends; the run's over the agent's.
    #[must_use]
    pub fn host<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.run().hosts.get()
    }

    /// A host value to keep.
    pub(crate) fn host_arc<T: 'static>(&self) -> Option<Arc<T>> {
        self.run().hosts.get_arc()
    }

    /// Metadata of the run, or of the agent.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.run().metadata.get(key)
    }

    /// The run's state as it was when this turn's calls started.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.0.turn.state
    }

    /// The whole of a result that was too long for the model, by the handle that the model
    /// was told. `None` for anything else, also for another key of the state.
    ///
    /// ```
    /// use agent_core::{ToolContext, tool};
    ///
    /// /// Reads on in a result that was truncated.
    /// #[tool(effect = "pure")]
    /// async fn read_on(
    ///     /// The name the truncated result gives.
    ///     handle: &str,
    ///     /// How many characters to skip.
    ///     skip: usize,
    ///     context: &ToolContext,
    /// ) -> String {
    ///     let whole = context.whole_result(handle).unwrap_or("there is no such result");
    ///     whole.chars().skip(skip).take(10_000).collect()
    /// }
    /// ```
    #[must_use]
    pub fn whole_result(&self, handle: &str) -> Option<&str> {
        // The model says which, and the rest of the state is not for it.
        let is_handle = crate::id::is(handle, RESULT);
        is_handle.then(|| self.state().value(handle))??.as_str()
    }

    /// Writes a key of the run's state, once the call has gone well.
    ///
    /// The key is a text or a [`StateKey`](crate::graph::StateKey).
    ///
    /// # Errors
    ///
    /// [`StateError`] for a value without JSON form and for the key of the messages.
    pub fn update(
        &self,
        key: impl Into<Arc<str>>,
        value: impl Serialize,
    ) -> Result<(), StateError> {
        let change = StateUpdate::new().set(key, value)?;
        let mut updates = self
            .0
            .updates
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        updates.extend(change);
        Ok(())
    }

    /// What an error must not repeat. Masked before a text is shortened, as a part of a secret is
    /// not known as one.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.run().secrets
    }

    pub(crate) fn runs_blocking_in_place(&self) -> bool {
        self.run().blocking_in_place
    }

    pub(crate) fn take_updates(&self) -> StateUpdate {
        std::mem::take(
            &mut *self
                .0
                .updates
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("run_id", &self.run_id())
            .field("call_id", &self.call_id())
            .field("tool_name", &self.tool_name())
            .finish_non_exhaustive()
    }
}
