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

use super::ToolError;
use super::cancel::{CancelCallbacks, CancelGuard};
use super::host::Hosts;
use super::place::{Leftovers, Place};
use crate::boxed::BoxFuture;
use crate::message::MessageId;
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

#[derive(Default)]
struct Inner {
    run: Arc<RunContext>,
    call_id: Arc<str>,
    message_id: Option<MessageId>,
    tool_name: Arc<str>,
    deadline: Option<tokio::time::Instant>,
    cancellation: CancellationToken,
    callbacks: OnceLock<Arc<CancelCallbacks>>,
    state: State,
    updates: Mutex<StateUpdate>,
    progress: Option<Progress>,
    outer: Option<Arc<dyn Any + Send + Sync>>,
    answers: Vec<CallAnswer>,
    place: Place,
    attempt: AtomicU32,
}

/// What is special to one call; see the getters of [`ToolContext`].
pub(crate) struct CallContext {
    pub(crate) call_id: Arc<str>,
    /// The message that holds the call.
    pub(crate) message_id: Option<MessageId>,
    pub(crate) tool_name: Arc<str>,
    pub(crate) deadline: Option<tokio::time::Instant>,
    pub(crate) cancellation: CancellationToken,
    pub(crate) state: State,
    pub(crate) progress: Option<Progress>,
    /// What a run within the call needs to know of this one; only the agent knows its type.
    pub(crate) outer: Option<Arc<dyn Any + Send + Sync>>,
    /// The answers to what the call asked, in order.
    pub(crate) answers: Vec<CallAnswer>,
}

impl ToolContext {
    pub(crate) fn for_call(run: Arc<RunContext>, call: CallContext) -> Self {
        Self(Arc::new(Inner {
            run,
            call_id: call.call_id,
            message_id: call.message_id,
            tool_name: call.tool_name,
            deadline: call.deadline,
            cancellation: call.cancellation,
            callbacks: OnceLock::new(),
            state: call.state,
            updates: Mutex::default(),
            progress: call.progress,
            outer: call.outer,
            answers: call.answers,
            place: Place::default(),
            attempt: AtomicU32::new(1),
        }))
    }

    /// The id of the run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.0.run.run_id
    }

    /// The id of the thread, if the run belongs to one.
    #[must_use]
    pub fn thread_id(&self) -> Option<&str> {
        self.0.run.thread_id.as_deref()
    }

    /// The provider's id of this call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.0.call_id
    }

    /// The name of the tool that runs.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        &self.0.tool_name
    }

    /// When the call's time is over.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline.map(tokio::time::Instant::into_std)
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
        let message = self.0.message_id.as_ref();
        let message = message.map_or_else(|| "0::".to_owned(), MessageId::key);
        format!("{message}{}", self.call_id())
    }

    /// The call's token: a child of the run's, fired when the call times out and when the run is
    /// cancelled. A call and a run that end by themselves do not fire it.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.0.cancellation
    }

    /// An error if the call was cancelled; for blocking tools, between two steps.
    ///
    /// # Errors
    ///
    /// [`ToolError::cancelled`].
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.0.cancellation.is_cancelled() {
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
        self.0.run.hosts.get()
    }

    /// A host value to keep.
    pub(crate) fn host_arc<T: 'static>(&self) -> Option<Arc<T>> {
        self.0.run.hosts.get_arc()
    }

    /// Metadata of the run, or of the agent.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.0.run.metadata.get(key)
    }

    /// The run's state as it was when this turn's calls started.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.0.state
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
        is_handle.then(|| self.0.state.value(handle))??.as_str()
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
        let progress = self.0.progress.as_ref();
        Emit {
            pending: progress
                .filter(|_| !self.0.cancellation.is_cancelled())
                .and_then(|progress| progress(value.into())),
        }
    }

    fn callbacks(&self) -> &Arc<CancelCallbacks> {
        self.0.callbacks.get_or_init(Arc::default)
    }

    pub(crate) fn outer(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.0.outer.clone()
    }

    /// What an error must not repeat. Masked before a text is shortened, as a part of a secret is
    /// not known as one.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.0.run.secrets
    }

    pub(crate) fn runs_blocking_in_place(&self) -> bool {
        self.0.run.blocking_in_place
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
        &self.0.place
    }

    pub(super) fn leftovers(&self) -> Leftovers {
        self.0.run.leftovers.clone()
    }

    /// True if the tool is a blocking one that never had a thread.
    pub(crate) fn never_ran(&self) -> bool {
        self.0.place.is_given_up()
    }

    /// The call is over: what of it still runs is left behind.
    pub(crate) fn end(&self) {
        self.0.place.leave(&self.0.run.leftovers);
    }

    /// Ends the call early: fires its token and its callbacks.
    pub(crate) fn cancel(&self) {
        self.end();
        self.0.cancellation.cancel();
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
