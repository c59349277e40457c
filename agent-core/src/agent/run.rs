//! What one run is given, and the stream of its events.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::drive::drive;
use super::error::AgentError;
use super::handle::RunHandle;
use super::input::Input;
use super::nested::Outer;
use super::output::FINAL_ANSWER;
use super::react::ReactAgent;
use crate::boxed::BoxFuture;
use crate::event::{AgentEvent, EventKind, Gate, Partial, RunOutput, Said, Sink, channel};
use crate::graph::Answer;
use crate::graph::checkpoint::{CheckpointId, CheckpointSaver, Durability};
use crate::model::ChatOptions;
use crate::state::StateUpdate;
use crate::tool::{Hosts, IntoTools, ToolCallback};

/// A run that has not begun. Await it for its output, or stream its events; both are the
/// same run.
///
/// Dropping the stream, or the future of the awaited run, cancels it at once: the model
/// request is closed and every async tool is dropped.
///
/// It needs a tokio runtime with its timer, and with I/O for a model behind HTTP; `#[tokio::main]`
/// and `enable_all()` have both.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct RunRequest {
    pub(super) agent: ReactAgent,
    pub(super) input: Input,
    pub(super) thread: Option<String>,
    pub(super) saver: Option<Arc<dyn CheckpointSaver>>,
    pub(super) durability: Option<Durability>,
    pub(super) at: Option<CheckpointId>,
    /// What a resumed run is told.
    pub(super) answers: Option<Vec<Answer>>,
    /// True if answers of an earlier pause are there once more, and count no more.
    pub(super) repeats_answers: bool,
    pub(super) options: ChatOptions,
    pub(super) hosts: Hosts,
    pub(super) metadata: Map<String, Value>,
    pub(super) tools: Vec<Arc<dyn ToolCallback>>,
    pub(super) state: StateUpdate,
    pub(super) deadline: Option<Duration>,
    pub(super) token: CancellationToken,
    pub(super) streaming: Option<bool>,
    pub(super) runtime: Option<Handle>,
    pub(super) outer: Option<Arc<Outer>>,
    pub(super) outer_token: Option<CancellationToken>,
}

impl RunRequest {
    pub(super) fn new(agent: ReactAgent, input: Input) -> Self {
        Self {
            agent,
            input,
            thread: None,
            saver: None,
            durability: None,
            at: None,
            answers: None,
            repeats_answers: false,
            options: ChatOptions::new(),
            hosts: Hosts::default(),
            metadata: Map::new(),
            tools: Vec::new(),
            state: StateUpdate::new(),
            deadline: None,
            token: CancellationToken::new(),
            streaming: None,
            runtime: None,
            outer: None,
            outer_token: None,
        }
    }

    /// The thread the run belongs to: it begins with the state and the history that the thread's
    /// last run left, and writes down what it does, so that it can be
    /// [resumed](ReactAgent::resume). Without a thread nothing is remembered. It needs a
    /// [saver](super::ReactAgentBuilder::saver), or the run ends with [`AgentError::NoSaver`].
    ///
    /// One run at a time has a thread; a second one ends with [`AgentError::Thread`]. Where the
    /// last run paused or was cut off, the calls it left open are answered: with their results as
    /// far as there are any, else with an error that says why; then the new message is read.
    pub fn thread(mut self, id: impl Into<String>) -> Self {
        self.thread = Some(id.into());
        self
    }

    /// Where the thread is kept, in place of the agent's.
    pub fn saver(mut self, saver: impl CheckpointSaver) -> Self {
        self.saver = Some(Arc::new(saver));
        self
    }

    /// When the run writes to its thread. Default: the agent's.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }

    /// Begins at an earlier checkpoint of the thread, which gets another branch there. What was
    /// done outside since then stays done, and may be done again.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.at = Some(checkpoint);
        self
    }

    /// Settings of the model calls, over those of the agent.
    pub fn options(mut self, options: ChatOptions) -> Self {
        self.options = options;
        self
    }

    /// Lends a value to the tools, over the agent's of that type.
    pub fn host<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.hosts.insert(value);
        self
    }

    /// Adds metadata that tools can read, over the agent's of that key.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Adds tools in front of the agent's; where a name is there twice, these win.
    pub fn tools(mut self, tools: impl IntoTools) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Sets a key of the state the run starts with, for example for the instruction.
    pub fn state(mut self, key: impl Into<Arc<str>>, value: impl Into<Value>) -> Self {
        self.state = self.state.put(key, value.into());
        self
    }

    /// The longest the run may take, from its first poll. When it is over, the run ends with
    /// `LimitReached(Deadline)`; with an empty state if its thread was not open yet. Default: no
    /// limit.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// A token that cancels the run: it ends with the outcome `Cancelled`; with an empty state if
    /// its thread was not open yet.
    pub fn cancel_token(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Whether the model is asked for its reply as it is written. Default: the agent's.
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = Some(streaming);
        self
    }

    /// The runtime that the run's tool calls run on, over the agent's.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Starts the run as a stream of its events. Nothing happens until it is polled.
    pub fn stream(mut self) -> RunStream {
        // A token may be that of many runs; a handle ends this one.
        self.token = self.token.child_token();
        let handle = RunHandle::new(self.token.clone());
        let name = Arc::clone(&self.agent.config.name);
        let (sink, events) = channel(Arc::clone(&name), self.gate());
        let output = self.agent.config.output.as_ref();
        RunStream {
            partial: output.map(|output| Partial::new(FINAL_ANSWER, output.member())),
            agent: name,
            sequence: 0,
            handle,
            events,
            run: Some(Box::pin(drive(Box::new(self), sink))),
            end: None,
        }
    }

    /// Where the events go beside the run's own stream.
    fn gate(&self) -> Option<Arc<Gate>> {
        let outer = self.outer.as_ref();
        outer.map(|outer| Arc::new(outer.gate.clone()))
    }
}

/// The same run with nobody to read its events.
impl IntoFuture for RunRequest {
    type Output = Result<RunOutput, AgentError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let sink = Sink::unread(Arc::clone(&self.agent.config.name), self.gate());
        Box::pin(drive(Box::new(self), sink))
    }
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRequest")
            .field("agent", &self.agent.name())
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

/// The events of a run. It drives the run: a reader that stops polling pauses it, dropping
/// the stream cancels it.
#[must_use = "a run does nothing until its stream is polled"]
pub struct RunStream {
    agent: Arc<str>,
    sequence: u64,
    handle: RunHandle,
    /// The answer so far, if it is to have a form.
    partial: Option<Partial>,
    events: mpsc::Receiver<Said>,
    run: Option<BoxFuture<'static, Result<RunOutput, AgentError>>>,
    end: Option<Result<RunOutput, AgentError>>,
}

impl RunStream {
    /// The next event; `None` after the run is over. Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<AgentEvent, AgentError>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// What cancels this run from elsewhere.
    #[must_use]
    pub fn handle(&self) -> RunHandle {
        self.handle.clone()
    }

    /// The answer as far as the model has written it, for an agent with an
    /// [output type](super::ReactAgentBuilder::output_type): what is still open is taken as
    /// closed, and a name or a number that may be half there is left out. `None` if the run has
    /// no such answer, or if there is not enough of it for a `T`; members that may be missing are
    /// best an `Option`, or have `#[serde(default)]`.
    ///
    /// Each call reads what is there from its start, so ask as often as it is shown.
    ///
    /// ```
    /// use agent_core::ReactAgent;
    /// use agent_core::model::{ScriptedModel, scripted::says};
    /// use agent_core::agent::OutputMode;
    /// use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([says(r#"{"title": "Snow in Oslo", "words": 12}"#)]);
    /// let agent = ReactAgent::builder("writer", model)
    ///     .output_schema(json!({"type": "object"}))
    ///     .output_mode(OutputMode::Native)
    ///     .build()?;
    ///
    /// let mut run = agent.run("A poem.").stream();
    /// let mut titles = Vec::new();
    /// while let Some(event) = run.next().await {
    ///     event?;
    ///     let title = run.partial::<Value>().map(|poem| poem["title"].clone());
    ///     titles.extend(title.filter(|title| titles.last() != Some(title)));
    /// }
    /// assert_eq!(titles, [json!(null), json!("Snow "), json!("Snow in "), json!("Snow in Oslo")]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn partial<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(self.partial.as_ref()?.value()?).ok()
    }

    fn number(&mut self, said: Said) -> AgentEvent {
        if let Some(partial) = &mut self.partial
            && !said.is_nested
        {
            partial.push(&said.kind);
        }
        self.sequence += 1;
        AgentEvent::new(self.sequence, said.agent, said.kind)
    }
}

impl Stream for RunStream {
    type Item = Result<AgentEvent, AgentError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        // What was said comes first: the run may wait for room. Not `poll_recv`: tokio lets
        // that wait in a task that never does, with events left.
        if (this.run.is_some() || this.end.is_some())
            && let Ok(said) = this.events.try_recv()
        {
            return Poll::Ready(Some(Ok(this.number(said))));
        }
        if let Some(run) = &mut this.run {
            match run.as_mut().poll(context) {
                Poll::Ready(end) => {
                    // What it still holds, for example a host value, is let go before the last event.
                    this.run = None;
                    this.end = Some(end);
                    // Nobody who is left behind speaks after the last event.
                    this.events.close();
                }
                // It may have spoken while it was polled.
                Poll::Pending => {
                    return match this.events.poll_recv(context) {
                        Poll::Ready(Some(said)) => Poll::Ready(Some(Ok(this.number(said)))),
                        _ => Poll::Pending,
                    };
                }
            }
            if let Ok(said) = this.events.try_recv() {
                return Poll::Ready(Some(Ok(this.number(said))));
            }
        }
        Poll::Ready(match this.end.take() {
            Some(Ok(output)) => {
                let said = Said::new(&this.agent, EventKind::RunFinished(output));
                Some(Ok(this.number(said)))
            }
            Some(Err(error)) => Some(Err(error)),
            None => None,
        })
    }
}

impl fmt::Debug for RunStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream")
            .field("agent", &self.agent)
            .field("sequence", &self.sequence)
            .finish_non_exhaustive()
    }
}
