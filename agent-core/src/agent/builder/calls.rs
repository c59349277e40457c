//! How the tool calls of an agent run.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::ReactAgentBuilder;
use crate::agent::brought::add_tool_interceptor;
use crate::agent::interceptor::ToolInterceptor;
use crate::agent::policy::ErrorPolicy;
#[cfg(feature = "retry")]
use crate::agent::retry::ToolRetry;
use crate::graph::State;
use crate::message::ToolCall;

impl ReactAgentBuilder {
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

    /// Asks a person before a call runs for which this is true; calls add up. So does a tool by
    /// its [metadata](crate::tool::ToolMetadata::approval), and a [`Hook`](crate::agent::Hook).
    /// Default: nobody is asked.
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

    /// Wraps each tool call; as [`model_interceptor`](Self::model_interceptor).
    pub fn tool_interceptor(mut self, interceptor: impl ToolInterceptor) -> Self {
        add_tool_interceptor(&mut self.tool_interceptors, Arc::new(interceptor));
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
}
