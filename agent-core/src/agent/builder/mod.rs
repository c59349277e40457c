//! What an agent is told to be; checked and put together in `agent::build`.

mod answer;
mod calls;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::runtime::Handle;

use super::brought::add_model_interceptor;
use super::earlier::InDoubt;
use super::hook::Hook;
use super::interceptor::{ModelInterceptor, ToolInterceptor};
use super::limits::Limits;
use super::output::{OutputMode, OutputSpec};
use super::policy::ErrorPolicy;
use super::react::{Approval, RunsTools};
#[cfg(feature = "retry")]
use super::retry::ToolRetry;
use crate::graph::checkpoint::{CheckpointSaver, Durability};
use crate::model::{ChatModel, ChatOptions};
use crate::secrets::Secrets;
use crate::state::KeyStrategy;
use crate::tool::{Hosts, IntoTools, ToolCallback, ToolResolver};

/// Builds a [`ReactAgent`](crate::ReactAgent).
#[must_use = "a builder does nothing until `build` is called"]
pub struct ReactAgentBuilder {
    pub(in crate::agent) name: String,
    pub(in crate::agent) description: String,
    pub(in crate::agent) model: Arc<dyn ChatModel>,
    pub(in crate::agent) tools: Vec<Arc<dyn ToolCallback>>,
    pub(in crate::agent) tool_names: Vec<String>,
    pub(in crate::agent) resolvers: Vec<Arc<dyn ToolResolver>>,
    pub(in crate::agent) system_prompt: Option<String>,
    pub(in crate::agent) instruction: Option<String>,
    pub(in crate::agent) options: ChatOptions,
    pub(in crate::agent) keys: Vec<(Arc<str>, KeyStrategy)>,
    pub(in crate::agent) output_key: Option<String>,
    pub(in crate::agent) parallel: bool,
    pub(in crate::agent) max_parallel: usize,
    pub(in crate::agent) eager: bool,
    pub(in crate::agent) tool_timeout: Duration,
    #[cfg(feature = "retry")]
    pub(in crate::agent) tool_retry: Option<ToolRetry>,
    pub(in crate::agent) runtimes: HashMap<String, Handle>,
    pub(in crate::agent) runtime: Option<Handle>,
    pub(in crate::agent) sync_on_pool: bool,
    pub(in crate::agent) limits: Limits,
    pub(in crate::agent) saver: Option<Arc<dyn CheckpointSaver>>,
    pub(in crate::agent) durability: Durability,
    pub(in crate::agent) in_doubt: InDoubt,
    pub(in crate::agent) approvals: Vec<Approval>,
    pub(in crate::agent) hooks: Vec<Arc<dyn Hook>>,
    pub(in crate::agent) model_interceptors: Vec<Arc<dyn ModelInterceptor>>,
    pub(in crate::agent) tool_interceptors: Vec<Arc<dyn ToolInterceptor>>,
    pub(in crate::agent) error_policy: ErrorPolicy,
    pub(in crate::agent) secrets: Secrets,
    pub(in crate::agent) result_limit: Option<usize>,
    pub(in crate::agent) hosts: Hosts,
    pub(in crate::agent) metadata: Map<String, Value>,
    pub(in crate::agent) output: Option<OutputSpec>,
    pub(in crate::agent) output_mode: OutputMode,
    pub(in crate::agent) output_retries: u32,
    pub(in crate::agent) runs_tools: Option<RunsTools>,
    pub(in crate::agent) streaming: bool,
    pub(in crate::agent) record_content: bool,
}

impl ReactAgentBuilder {
    pub(in crate::agent) fn new(name: String, model: Arc<dyn ChatModel>) -> Self {
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

    /// Wraps each model call; calls add up, and the first is the outermost. One of a name that
    /// is there already is left out, which is logged.
    pub fn model_interceptor(mut self, interceptor: impl ModelInterceptor) -> Self {
        add_model_interceptor(&mut self.model_interceptors, Arc::new(interceptor));
        self
    }

    /// Adds a hook; calls add up. See [`Hook`].
    pub fn hook(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Arc::new(hook));
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
