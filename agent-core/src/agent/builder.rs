//! What an agent is told to be; checked and put together in `agent::build`.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::runtime::Handle;

use super::brought::{add_model_interceptor, add_tool_interceptor};
use super::earlier::InDoubt;
use super::hook::Hook;
use super::interceptor::{ModelInterceptor, ToolInterceptor};
use super::limits::Limits;
use super::output::{OutputMode, OutputSpec};
use super::policy::ErrorPolicy;
use super::react::{Approval, RunsTools};
#[cfg(feature = "retry")]
use super::retry::ToolRetry;
use crate::graph::State;
use crate::graph::checkpoint::{CheckpointSaver, Durability};
use crate::message::ToolCall;
use crate::model::{ChatModel, ChatOptions, ChatResponse};
use crate::schema::ToolSchema;
use crate::secrets::Secrets;
use crate::state::KeyStrategy;
use crate::tool::{Hosts, IntoTools, ToolCallback, ToolResolver};

/// Builds a [`ReactAgent`](crate::ReactAgent).
#[must_use = "a builder does nothing until `build` is called"]
pub struct ReactAgentBuilder {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) tools: Vec<Arc<dyn ToolCallback>>,
    pub(super) tool_names: Vec<String>,
    pub(super) resolvers: Vec<Arc<dyn ToolResolver>>,
    pub(super) system_prompt: Option<String>,
    pub(super) instruction: Option<String>,
    pub(super) options: ChatOptions,
    pub(super) keys: Vec<(Arc<str>, KeyStrategy)>,
    pub(super) output_key: Option<String>,
    pub(super) parallel: bool,
    pub(super) max_parallel: usize,
    pub(super) eager: bool,
    pub(super) tool_timeout: Duration,
    #[cfg(feature = "retry")]
    pub(super) tool_retry: Option<ToolRetry>,
    pub(super) runtimes: HashMap<String, Handle>,
    pub(super) runtime: Option<Handle>,
    pub(super) sync_on_pool: bool,
    pub(super) limits: Limits,
    pub(super) saver: Option<Arc<dyn CheckpointSaver>>,
    pub(super) durability: Durability,
    pub(super) in_doubt: InDoubt,
    pub(super) approvals: Vec<Approval>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) model_interceptors: Vec<Arc<dyn ModelInterceptor>>,
    pub(super) tool_interceptors: Vec<Arc<dyn ToolInterceptor>>,
    pub(super) error_policy: ErrorPolicy,
    pub(super) secrets: Secrets,
    pub(super) result_limit: Option<usize>,
    pub(super) hosts: Hosts,
    pub(super) metadata: Map<String, Value>,
    pub(super) output: Option<OutputSpec>,
    pub(super) output_mode: OutputMode,
    pub(super) output_retries: u32,
    pub(super) runs_tools: Option<RunsTools>,
    pub(super) streaming: bool,
    pub(super) record_content: bool,
}

impl ReactAgentBuilder {
    pub(super) fn new(name: String, model: Arc<dyn ChatModel>) -> Self {
        Self {
            name,
            description: String::new(),
            model,
            tools: Vec::new(),
            tool_names: Vec::new(),
            resolvers: Vec::new(),
            system_prompt: None,
            instruction: None,
            options: ChatOptions::new(),
            keys: Vec::new(),
            output_key: None,
            parallel: false,
            max_parallel: 5,
            eager: false,
            tool_timeout: Duration::from_secs(300),
            #[cfg(feature = "retry")]
            tool_retry: None,
            runtimes: HashMap::new(),
            runtime: None,
            sync_on_pool: true,
            limits: Limits::default(),
            saver: None,
            durability: Durability::default(),
            in_doubt: InDoubt::default(),
            approvals: Vec::new(),
            hooks: Vec::new(),
            model_interceptors: Vec::new(),
            tool_interceptors: Vec::new(),
            error_policy: ErrorPolicy::default(),
            secrets: Secrets::default(),
            result_limit: Some(64 * 1024),
            hosts: Hosts::default(),
            metadata: Map::new(),
            output: None,
            output_mode: OutputMode::Auto,
            output_retries: 2,
            runs_tools: None,
            streaming: true,
            record_content: false,
        }
    }

    /// What the agent is for, when it is a tool of another. Default: empty.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// Adds tools; calls add up. See [`IntoTools`] for what can be given.
    pub fn tools(mut self, tools: impl IntoTools) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Adds tools by their names, behind those of [`tools`](Self::tools); calls add up. They
    /// are those of the [`resolver`](Self::resolver), else those of the
    /// [`registry`](crate::registry); an unknown name is a fault.
    pub fn tool_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tool_names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lets the model call tools that it is not offered, if this knows their names; calls add
    /// up, and the first that knows a name is right. See [`ToolResolver`]. Default: none, and
    /// a call of a tool that is not offered is an error the model reads.
    pub fn resolver(mut self, resolver: impl ToolResolver + 'static) -> Self {
        self.resolvers.push(Arc::new(resolver));
        self
    }

    /// Standing orders, sent as the first message of every request. Default: none.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = Some(text.into());
        self
    }

    /// A message in front of the input, rendered once per run from the state's values: only
    /// `{identifier}` is replaced. A history that holds it already gets no second copy.
    /// Default: none.
    pub fn instruction(mut self, template: impl Into<String>) -> Self {
        self.instruction = Some(template.into());
        self
    }

    /// Settings of the model calls; those of a run come over them. Default: none.
    pub fn options(mut self, options: ChatOptions) -> Self {
        self.options = options;
        self
    }

    /// Declares how updates of a key of the state are joined. Default: they replace.
    pub fn key(mut self, key: impl Into<Arc<str>>, strategy: KeyStrategy) -> Self {
        self.keys.push((key.into(), strategy));
        self
    }

    /// The answer is JSON that a `T` is read from; [`RunOutput::parse`](crate::RunOutput::parse)
    /// gives it. The schema is told to the model as [`output_mode`](Self::output_mode) says, once
    /// the tool loop is done; an answer that does not fit is asked for again. A type that has only
    /// `schemars::JsonSchema` is wrapped in [`Schemars`](crate::schema::Schemars).
    ///
    /// ```
    /// use agent_core::model::{ScriptedModel, scripted::calls};
    /// use agent_core::{ReactAgent, ToolSchema};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, ToolSchema)]
    /// struct Weather {
    ///     city: String,
    ///     degrees: f64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let answer = serde_json::json!({"city": "Oslo", "degrees": 4.5});
    /// let agent = ReactAgent::builder("assistant", ScriptedModel::new([calls("final_answer", answer)]))
    ///     .output_type::<Weather>()
    ///     .build()?;
    ///
    /// let weather: Weather = agent.run("Oslo?").await?.parse()?;
    /// assert_eq!(weather.degrees, 4.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn output_type<T: ToolSchema + DeserializeOwned>(mut self) -> Self {
        self.output = Some(OutputSpec::of_type::<T>());
        self
    }

    /// The answer is JSON of this schema, as [`output_type`](Self::output_type). It is held to
    /// the schema with the feature `validate`, else it is only JSON. Default: any text.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(OutputSpec::of_schema(schema));
        self
    }

    /// How the model is asked for an answer of a form. Default: [`OutputMode::Auto`].
    pub fn output_mode(mut self, mode: OutputMode) -> Self {
        self.output_mode = mode;
        self
    }

    /// How often an answer that does not fit is asked for again, with what is wrong with it. The
    /// calls count for the limit of model calls. Default: 2.
    pub fn output_retries(mut self, retries: u32) -> Self {
        self.output_retries = retries;
        self
    }

    /// Whether a reply leads to its tools. `false` for one with calls: they do not run, and its
    /// text is the answer. `true` for one without: the model is asked again, for providers that
    /// stop in the middle. Default: a reply with calls does.
    pub fn execute_tools_when(
        mut self,
        rule: impl Fn(&ChatResponse) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.runs_tools = Some(Arc::new(rule));
        self
    }

    /// Also writes the answer's text to this key of the state. Default: none.
    pub fn output_key(mut self, key: impl Into<String>) -> Self {
        self.output_key = Some(key.into());
        self
    }

    /// Whether the calls of one turn run side by side. Default: one after another.
    pub fn parallel_tool_execution(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// The most calls that run at once, if they run side by side. Default: 5.
    pub fn max_parallel_tools(mut self, limit: usize) -> Self {
        self.max_parallel = limit;
        self
    }

    /// Whether a call of a `pure` tool starts as soon as its arguments are whole, while the model
    /// still writes the rest of its reply. Events, results and limits are the same; such a tool
    /// reads the state as it was before the reply, and the result is dropped if the reply fails or
    /// a hook after the model refuses the call.
    /// It needs a streamed reply, and is off in runs inside a tool call. Default: no call does.
    pub fn eager_tool_start(mut self, eager: bool) -> Self {
        self.eager = eager;
        self
    }

    /// The longest a tool call may take; a tool's own limit counts if it is shorter. The wait
    /// for a free slot counts too. The model reads whether it was this limit, the tool's own or
    /// the end of the run. Default: 5 minutes.
    pub fn tool_execution_timeout(mut self, limit: Duration) -> Self {
        self.tool_timeout = limit;
        self
    }

    /// Whether plain `fn` tools run on the blocking pool, so that a limit can fire while they
    /// run. Default: they do.
    pub fn wrap_sync_tools_as_async(mut self, wrap: bool) -> Self {
        self.sync_on_pool = wrap;
        self
    }

    /// Tries failed calls of `pure` and `idempotent` tools again. Default: no call is.
    #[cfg(feature = "retry")]
    pub fn tool_retry(mut self, retry: ToolRetry) -> Self {
        self.tool_retry = Some(retry);
        self
    }

    /// The runtime that tool calls run on; the run itself stays where it is polled. Default: the
    /// run's own.
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// The runtime that calls of this tool run on, whatever the run and the agent say.
    pub fn runtime_of(mut self, tool: impl Into<String>, runtime: Handle) -> Self {
        self.runtimes.insert(tool.into(), runtime);
        self
    }

    /// How much a run may do. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where the [threads](super::RunRequest::thread) of runs are kept. Default: nowhere, and a run of a
    /// thread is an error.
    pub fn saver(mut self, saver: impl CheckpointSaver) -> Self {
        self.saver = Some(Arc::new(saver));
        self
    }

    /// When a run writes to its thread. Default: [`Durability::EachWrite`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// What becomes of a call that was cut off with its program and may have taken effect. Calls
    /// of `pure` and `idempotent` tools run again. Default: [`InDoubt::Tell`].
    pub fn in_doubt(mut self, in_doubt: InDoubt) -> Self {
        self.in_doubt = in_doubt;
        self
    }

    /// Asks a person before a call runs for which this is true; calls add up. So does a tool by
    /// its [metadata](crate::tool::ToolMetadata::approval), and a [`Hook`]. Default: nobody is
    /// asked.
    ///
    /// The predicate must only look at its arguments: it is asked again when a run is resumed.
    /// Where it panics, a person is asked.
    pub fn approval(
        mut self,
        needs: impl Fn(&ToolCall, &State) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.approvals.push(Arc::new(needs));
        self
    }

    /// Wraps each model call; calls add up, and the first is the outermost. One of a name that
    /// is there already is left out, which is logged.
    pub fn model_interceptor(mut self, interceptor: impl ModelInterceptor) -> Self {
        add_model_interceptor(&mut self.model_interceptors, Arc::new(interceptor));
        self
    }

    /// Wraps each tool call; as [`model_interceptor`](Self::model_interceptor).
    pub fn tool_interceptor(mut self, interceptor: impl ToolInterceptor) -> Self {
        add_tool_interceptor(&mut self.tool_interceptors, Arc::new(interceptor));
        self
    }

    /// Adds a hook; calls add up. See [`Hook`].
    pub fn hook(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Which way a tool's error goes. Default: [`ErrorPolicy::default`].
    pub fn error_policy(mut self, policy: ErrorPolicy) -> Self {
        self.error_policy = policy;
        self
    }

    /// The most text of one result that the model reads, in bytes; `None` for all of it. A
    /// longer one is cut in its middle, and the whole is kept in the state:
    /// [`ToolContext::whole_result`](crate::ToolContext::whole_result) gives it to a tool that
    /// the model can read on with. A `return_direct` result is not cut. Default: 64 KiB.
    pub fn max_result_bytes(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.result_limit = limit.into();
        self
    }

    /// Masks this text as `***` in every tool result and tool error; calls add up. A text of
    /// fewer than 6 bytes is taken for no secret. User and password of a URL are masked in
    /// errors in any case. Default: none.
    pub fn secret(mut self, value: impl AsRef<str>) -> Self {
        self.secrets.add(value.as_ref());
        self
    }

    /// Lends a value to the tools, by its type; a run's value comes over it.
    pub fn host<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.hosts.insert(value);
        self
    }

    /// Adds metadata that tools can read; a run's value comes over it.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Whether the model is asked for its reply as it is written. Default: it is.
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Whether the spans of model calls and tool calls hold what was said: messages, arguments and
    /// results, with the agent's [secrets](Self::secret) masked. Default: they do not.
    pub fn record_content(mut self, record: bool) -> Self {
        self.record_content = record;
        self
    }
}

impl fmt::Debug for ReactAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReactAgentBuilder")
            .field("name", &self.name)
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}
