//! Puts an agent together and checks it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::brought::{Brought, add_model_interceptor, add_tool_interceptor, in_order};
use super::earlier::InDoubt;
use super::error::{BuildError, BuildFault};
use super::hook::Hook;
use super::interceptor::{ModelInterceptor, ToolInterceptor};
use super::limits::Limits;
use super::lookup::by_names;
use super::policy::ErrorPolicy;
use super::react::{Approval, Config, ReactAgent};
#[cfg(feature = "retry")]
use super::retry::ToolRetry;
use super::slots::ToolSlots;
use super::wiring::wire;
use crate::graph::checkpoint::{CheckpointSaver, Durability};
use crate::graph::{KeyStrategy, State};
use crate::message::{Message, ToolCall};
use crate::model::{ChatModel, ChatOptions, ToolList};
use crate::secrets::Secrets;
use crate::state::MESSAGES;
use crate::tool::{Hosts, IntoTools, Leftovers, ToolCallback, ToolResolver, ToolSet};

/// Builds a [`ReactAgent`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct ReactAgentBuilder {
    name: String,
    description: String,
    model: Arc<dyn ChatModel>,
    tools: Vec<Arc<dyn ToolCallback>>,
    tool_names: Vec<String>,
    resolvers: Vec<Arc<dyn ToolResolver>>,
    system_prompt: Option<String>,
    instruction: Option<String>,
    options: ChatOptions,
    keys: Vec<(Arc<str>, KeyStrategy)>,
    output_key: Option<String>,
    parallel: bool,
    max_parallel: usize,
    eager: bool,
    tool_timeout: Duration,
    #[cfg(feature = "retry")]
    tool_retry: Option<ToolRetry>,
    runtimes: HashMap<String, Handle>,
    runtime: Option<Handle>,
    sync_on_pool: bool,
    limits: Limits,
    saver: Option<Arc<dyn CheckpointSaver>>,
    durability: Durability,
    in_doubt: InDoubt,
    approvals: Vec<Approval>,
    hooks: Vec<Arc<dyn Hook>>,
    model_interceptors: Vec<Arc<dyn ModelInterceptor>>,
    tool_interceptors: Vec<Arc<dyn ToolInterceptor>>,
    error_policy: ErrorPolicy,
    secrets: Secrets,
    result_limit: Option<usize>,
    hosts: Hosts,
    metadata: Map<String, Value>,
    streaming: bool,
    record_content: bool,
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
    /// for a free slot counts too. Default: 5 minutes.
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

    /// Checks the whole configuration and builds the agent.
    ///
    /// # Errors
    ///
    /// [`BuildError`] lists every fault, for example two tools of one name.
    pub fn build(self) -> Result<ReactAgent, BuildError> {
        let mut faults = Vec::new();
        if self.name.trim().is_empty() {
            faults.push(BuildFault::BlankName);
        }
        if self.output_key.as_deref() == Some(MESSAGES) {
            faults.push(BuildFault::ReservedOutputKey);
        }
        if self.max_parallel == 0 {
            faults.push(BuildFault::Zero {
                setting: "max_parallel_tools",
            });
        }
        if self.tool_timeout.is_zero() {
            faults.push(BuildFault::Zero {
                setting: "tool_execution_timeout",
            });
        }
        if self.limits.model_calls == Some(0) {
            faults.push(BuildFault::Zero {
                setting: "limits.model_calls",
            });
        }
        let (hooks, duplicates) = in_order(self.hooks);
        faults.extend(duplicates);
        let (by_name, unknown) = by_names(&self.tool_names, &self.resolvers);
        faults.extend(unknown);
        let own = self.tools.into_iter().chain(by_name).collect();
        let by_hooks = hooks.iter().map(|hook| hook.tools());
        let sets = by_hooks.chain([own]).map(|tools| {
            ToolSet::checked(tools).unwrap_or_else(|of_tools| {
                faults.extend(of_tools.into_iter().map(BuildFault::Tools));
                ToolSet::default()
            })
        });
        let tools = ToolSet::layered(sets.collect::<Vec<_>>());
        let unknown = self
            .runtimes
            .keys()
            .filter(|name| tools.get(name).is_none());
        faults.extend(unknown.map(|name| BuildFault::NoSuchTool {
            setting: "runtime_of",
            tool: name.clone(),
        }));
        if let Some(dialect) = self.model.dialect() {
            let refused = tools.report(dialect).refusals();
            faults.extend(refused.map(BuildFault::Tools));
        }
        let mut brought = Brought {
            keys: self.keys,
            model_interceptors: self.model_interceptors,
            tool_interceptors: self.tool_interceptors,
        };
        brought.by(&hooks);
        let wiring = wire(&hooks, brought.keys);
        let graph = wiring
            .graph
            .map_err(|error| faults.push(BuildFault::Graph(error)));
        let (true, Ok(graph)) = (faults.is_empty(), graph) else {
            return Err(BuildError::new(faults));
        };
        let tool_list = ToolList::new(tools.iter().map(|tool| tool.definition().clone()));
        let tool_slots = ToolSlots::of(&tools, &ToolSlots::default());
        Ok(ReactAgent {
            config: Arc::new(Config {
                name: self.name.into(),
                description: self.description,
                model: self.model,
                tools,
                tool_list,
                resolvers: self.resolvers,
                system_prompt: self.system_prompt.map(Message::system),
                instruction: self.instruction,
                options: self.options,
                output_key: self.output_key,
                parallel: self.parallel,
                max_parallel: self.max_parallel.min(Semaphore::MAX_PERMITS),
                eager: self.eager,
                tool_timeout: self.tool_timeout,
                tool_slots,
                #[cfg(feature = "retry")]
                tool_retry: self.tool_retry,
                runtimes: self.runtimes,
                runtime: self.runtime,
                leftovers: Leftovers::default(),
                blocking_in_place: !self.sync_on_pool,
                limits: self.limits,
                model_interceptors: brought.model_interceptors,
                tool_interceptors: brought.tool_interceptors,
                entry: wiring.entry,
                saver: self.saver,
                durability: self.durability,
                in_doubt: self.in_doubt,
                approvals: self.approvals,
                approving_hooks: hooks.clone(),
                threads: Arc::default(),
                exit: wiring.exit,
                has_after_model: wiring.has_after_model,
                error_policy: self.error_policy,
                secrets: self.secrets,
                result_limit: self.result_limit,
                hosts: self.hosts,
                metadata: Arc::new(self.metadata),
                streaming: self.streaming,
                record_content: self.record_content,
            }),
            graph,
        })
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
