//! An agent: its configuration and its graph.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::runtime::Handle;

use super::builder::ReactAgentBuilder;
use super::earlier::InDoubt;
use super::hook::Hook;
use super::input::Input;
use super::interceptor::{ModelInterceptor, ToolInterceptor};
use super::limits::Limits;
use super::output::{Output, Way};
use super::policy::ErrorPolicy;
#[cfg(feature = "retry")]
use super::retry::ToolRetry;
use super::run::RunRequest;
use super::slots::ToolSlots;
use super::thread::{self, SendError};
use crate::graph::checkpoint::{CheckpointSaver, Durability, RunningThreads};
use crate::graph::{Answer, CompiledGraph, State, StateEdit};
use crate::message::{Message, ToolCall};
use crate::model::{ChatModel, ChatOptions, ChatResponse, ToolList};
use crate::secrets::Secrets;
use crate::state::StateUpdate;
use crate::tool::{Hosts, Leftovers, ToolResolver, ToolSet};

/// Says whether a call needs approval.
pub(super) type Approval = Arc<dyn Fn(&ToolCall, &State) -> bool + Send + Sync>;

/// Whether a reply leads to its tools.
pub(super) type RunsTools = Arc<dyn Fn(&ChatResponse) -> bool + Send + Sync>;

/// Everything an agent was built with.
pub(super) struct Config {
    pub(super) name: Arc<str>,
    pub(super) description: String,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) tools: ToolSet,
    pub(super) tool_list: ToolList,
    /// What is asked for a tool that is not offered.
    pub(super) resolvers: Vec<Arc<dyn ToolResolver>>,
    pub(super) system_prompt: Option<Message>,
    pub(super) instruction: Option<String>,
    pub(super) options: ChatOptions,
    pub(super) output_key: Option<String>,
    pub(super) entry: String,
    pub(super) exit: String,
    pub(super) saver: Option<Arc<dyn CheckpointSaver>>,
    pub(super) durability: Durability,
    pub(super) in_doubt: InDoubt,
    /// Who says which calls need approval.
    pub(super) approvals: Vec<Approval>,
    pub(super) approving_hooks: Vec<Arc<dyn Hook>>,
    /// The runs that go on in this process, by their threads.
    pub(super) threads: Arc<RunningThreads>,
    pub(super) has_after_model: bool,
    pub(super) parallel: bool,
    pub(super) max_parallel: usize,
    pub(super) eager: bool,
    pub(super) tool_timeout: Duration,
    pub(super) tool_slots: ToolSlots,
    #[cfg(feature = "retry")]
    pub(super) tool_retry: Option<ToolRetry>,
    /// Where tools run: those of a name, then all others.
    pub(super) runtimes: HashMap<String, Handle>,
    pub(super) runtime: Option<Handle>,
    pub(super) leftovers: Leftovers,
    pub(super) blocking_in_place: bool,
    pub(super) limits: Limits,
    pub(super) model_interceptors: Vec<Arc<dyn ModelInterceptor>>,
    pub(super) tool_interceptors: Vec<Arc<dyn ToolInterceptor>>,
    pub(super) error_policy: ErrorPolicy,
    pub(super) secrets: Secrets,
    pub(super) result_limit: Option<usize>,
    pub(super) hosts: Hosts,
    pub(super) metadata: Arc<Map<String, Value>>,
    pub(super) output: Option<Output>,
    /// How the model of a run is asked for it that asks the agent's own.
    pub(super) way: Option<Way>,
    pub(super) runs_tools: Option<RunsTools>,
    pub(super) streaming: bool,
    pub(super) record_content: bool,
}

/// An agent: a model, its tools, and the graph that lets one use the other.
///
/// Cloning is cheap; runs of one agent are independent and may go on side by side.
///
/// ```
/// use agent_core::model::{ScriptedModel, scripted::{calls, says}};
/// use agent_core::{ReactAgent, tool, tools};
///
/// /// Current temperature of a city.
/// #[tool]
/// async fn temperature(city: &str) -> String {
///     format!("{city}: 4 °C")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     calls("temperature", serde_json::json!({"city": "Oslo"})),
///     says("It is 4 °C in Oslo."),
/// ]);
/// let agent = ReactAgent::builder("assistant", model)
///     .tools(tools![temperature])
///     .build()?;
///
/// let output = agent.run("How warm is Oslo?").await?;
/// assert_eq!(output.text(), "It is 4 °C in Oslo.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ReactAgent {
    pub(super) config: Arc<Config>,
    pub(super) graph: CompiledGraph,
}

impl ReactAgent {
    /// Starts an agent around the two things it cannot do without.
    pub fn builder(name: impl Into<String>, model: impl ChatModel + 'static) -> ReactAgentBuilder {
        ReactAgentBuilder::new(name.into(), Arc::new(model))
    }

    /// Prepares a run; await it for its output, or stream its events.
    pub fn run(&self, input: impl Into<Input>) -> RunRequest {
        RunRequest::new(self.clone(), input.into())
    }

    /// Goes on with a thread whose run paused, failed, or was cut off. The answers are those to
    /// its interrupts: some or all of them; the others still wait. A run that was cut off needs
    /// none.
    ///
    /// Calls that ended are not run again, whatever happened to the program; see
    /// [`InDoubt`](crate::agent::InDoubt) for those nobody knows about.
    ///
    /// An answer counts once, when the step or the call that read it is written down; until then a
    /// run that failed can be resumed without answers, with the same one, or with another to the
    /// same interrupt. An answer that its hook or tool cannot read ends the run with
    /// [`CheckpointError::InvalidAnswer`](crate::graph::checkpoint::CheckpointError::InvalidAnswer),
    /// which names the interrupt and what was expected; the other calls end first, and the question
    /// is open for another answer. A decision that does not fit is refused before anything runs.
    ///
    /// ```
    /// use agent_core::agent::Answer;
    /// use agent_core::graph::checkpoint::MemorySaver;
    /// use agent_core::model::{ScriptedModel, scripted::{calls, says}};
    /// use agent_core::{Outcome, ReactAgent, tool, tools};
    ///
    /// /// Pays a sum.
    /// #[tool]
    /// async fn pay(sum: u32) -> String {
    ///     format!("paid {sum}")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([calls("pay", serde_json::json!({"sum": 7})), says("Done.")]);
    /// let agent = ReactAgent::builder("assistant", model)
    ///     .tools(tools![pay])
    ///     .saver(MemorySaver::new())
    ///     .approval(|call, _| call.name() == "pay")
    ///     .build()?;
    ///
    /// let output = agent.run("Pay 7.").thread("t1").await?;
    /// let Outcome::Interrupted(asked) = output.outcome() else { unreachable!() };
    /// let output = agent.resume("t1", [Answer::approve(&asked[0].id)]).await?;
    /// assert_eq!(output.text(), "Done.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(
        &self,
        thread: impl Into<String>,
        answers: impl IntoIterator<Item = Answer>,
    ) -> RunRequest {
        let mut request = RunRequest::new(self.clone(), Input::from(Vec::new())).thread(thread);
        request.answers = Some(answers.into_iter().collect());
        request
    }

    /// Changes the state of a thread that nobody runs on, for example what a model said there, or
    /// as the node `model` or `tools`: see [`CompiledGraph::update_state`].
    pub fn update_state(
        &self,
        thread: impl Into<Arc<str>>,
        update: impl Into<StateUpdate>,
    ) -> StateEdit {
        let edit = self.graph.update_state(thread, update);
        match &self.config.saver {
            Some(saver) => edit.saver(Arc::clone(saver)),
            None => edit,
        }
    }

    /// Stops the run that goes on for this thread in this process, after the step it is in: the
    /// calls of a turn end first. The outcome is `Interrupted`, and a [`resume`](Self::resume)
    /// without answers goes on. False if there is no such run.
    ///
    /// It reaches the runs of this agent, and those of any other with the same saver or a clone of
    /// it. A run in another process is reached by nobody here.
    pub fn interrupt(&self, thread: &str) -> bool {
        let running = thread::find(&self.config, thread);
        running.is_some_and(|running| {
            running.stop.cancel();
            true
        })
    }

    /// Hands a message to the run that goes on for this thread in this process, one that
    /// [`interrupt`](Self::interrupt) would reach: the model reads it with its next call, and if
    /// there were to be none, is called once more. What a run does not get to, as it pauses, fails
    /// or reaches a limit, is the first that the thread's next run reads.
    ///
    /// When this returns, the message is written down, and read once also if the process dies
    /// before the model reads it. Only while the thread has no checkpoint yet, as in a first run
    /// that writes [at its end](Durability::AtEnd), it is written with the first.
    ///
    /// # Errors
    ///
    /// [`SendError::NotRunning`] if there is no such run, or it takes none any more: start one with
    /// the message. [`SendError::Checkpoint`] if the message cannot be written down; the run will
    /// fail then.
    pub async fn send(&self, thread: &str, message: impl Into<Message>) -> Result<(), SendError> {
        thread::send(&self.config, thread, message.into()).await
    }

    /// The agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// What the agent is for, when it is a tool of another.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.config.description
    }

    /// The agent's tools, in the order the model sees them.
    #[must_use]
    pub fn tools(&self) -> &ToolSet {
        &self.config.tools
    }

    /// How many blocking tools of this agent still run though their calls are over: they were
    /// told by their token, and have not returned yet. Their results are thrown away.
    #[must_use]
    pub fn leftover_calls(&self) -> usize {
        self.config.leftovers.count()
    }

    /// The agent's graph, for example to print its picture.
    #[must_use]
    pub fn graph(&self) -> &CompiledGraph {
        &self.graph
    }
}

impl fmt::Debug for ReactAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReactAgent")
            .field("name", &self.config.name)
            .field("tools", &self.config.tools)
            .finish_non_exhaustive()
    }
}
