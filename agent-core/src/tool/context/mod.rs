//! What a tool may know and do beside its arguments. Nothing here reaches the model.

mod answers;

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub(crate) use answers::CallAnswer;

use super::cancel::{CancelCallbacks, CancelGuard};
use super::host::Hosts;
use super::place::{Leftovers, Place};
use super::{ToolCallback, ToolError};
use crate::boxed::BoxFuture;
use crate::message::Message;
use crate::secrets::Secrets;
use crate::state::{State, StateError, StateUpdate};

/// With which the handle of a whole result begins.
pub(crate) const RESULT: &str = "result";

/// Takes a tool's progress to the run's events; `None` if it went at once.
pub(crate) type Progress = Arc<dyn Fn(Value) -> Option<BoxFuture<'static, ()>> + Send + Sync>;

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

/// What is special to one call; see the getters of [`ToolContext`].
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
    Own(String),
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

    /// The call's token: a child of the run's, fired when the call times out and when the run is
    /// cancelled. A call and a run that end by themselves do not fire it.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        self.0
            .cancellation
            .get_or_init(|| self.0.turn.cancellation.child_token())
    }

    pub(super) fn is_cancelled(&self) -> bool {
        let own = self.0.cancellation.get();
        own.unwrap_or(&self.0.turn.cancellation).is_cancelled()
    }

    /// An error if the call was cancelled; for blocking tools, between two steps.
    ///
    /// # Errors
    ///
    /// [`ToolError::cancelled`].
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.is_cancelled() {
            Err(ToolError::cancelled())
        } else {
            Ok(())
        }
    }

    /// Runs `f` once if the call is cancelled while the guard lives; at once if it was already.
    ///
    /// `f` runs on the thread that cancels: it must not block.
    pub fn on_cancel(&self, f: impl FnOnce() + Send + 'static) -> CancelGuard {
        self.callbacks().register(Box::new(f))
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

    /// Reports progress as an event of the run.
    ///
    /// The value is queued at once if there is room; awaiting the result waits for room, so
    /// that a slow reader slows the tool. Without a reader, and after the call was cancelled,
    /// it does nothing.
    pub fn emit(&self, value: impl Into<Value>) -> Emit {
        let progress = self.call().and_then(|call| call.progress.as_ref());
        Emit {
            pending: progress
                .filter(|_| !self.is_cancelled())
                .and_then(|progress| progress(value.into())),
        }
    }

    fn callbacks(&self) -> &Arc<CancelCallbacks> {
        self.0.callbacks.get_or_init(Arc::default)
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

    pub(super) fn place(&self) -> &Place {
        self.0.place.get_or_init(Place::default)
    }

    pub(super) fn leftovers(&self) -> Leftovers {
        self.run().leftovers.clone()
    }

    /// True if the tool is a blocking one that never had a thread.
    pub(crate) fn never_ran(&self) -> bool {
        self.0.place.get().is_some_and(Place::is_given_up)
    }

    /// The call is over: what of it still runs is left behind.
    pub(crate) fn end(&self) {
        let place = self.0.place.get_or_init(Place::over);
        place.leave(&self.run().leftovers);
    }

    /// Ends the call early: fires its token and its callbacks.
    pub(crate) fn cancel(&self) {
        self.end();
        self.cancellation().cancel();
        self.callbacks().fire();
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

/// Progress on its way; await it to wait for a slow reader.
pub struct Emit {
    pending: Option<BoxFuture<'static, ()>>,
}

impl Future for Emit {
    type Output = ();

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        match &mut self.pending {
            Some(pending) => pending.as_mut().poll(cx),
            None => std::task::Poll::Ready(()),
        }
    }
}

impl fmt::Debug for Emit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Emit {{ pending: {} }}", self.pending.is_some())
    }
}
