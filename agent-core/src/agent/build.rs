//! Checks what an agent was told to be, and puts it together.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::brought::{Brought, in_order};
use super::builder::ReactAgentBuilder;
use super::error::{BuildError, BuildFault};
use super::lookup::by_names;
use super::output::{Asking, FINAL_ANSWER, Way};
use super::react::{Config, ReactAgent};
use super::slots::ToolSlots;
use super::wiring::wire;
use crate::message::Message;
use crate::model::ToolList;
use crate::state::MESSAGES;
use crate::tool::{Leftovers, ToolSet};

impl ReactAgentBuilder {
    /// Checks the whole configuration and builds the agent.
    ///
    /// # Errors
    ///
    /// [`BuildError`] lists every fault, for example two tools of one name.
    pub fn build(self) -> Result<ReactAgent, BuildError> {
        let mut faults = self.wrong_settings();
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
        let mut tools = ToolSet::layered(sets.collect::<Vec<_>>());
        let output = self.output.map(|spec| {
            spec.build(&Asking {
                mode: self.output_mode,
                retries: self.output_retries,
                has_tools: !tools.is_empty(),
                system_prompt: self.system_prompt.as_deref(),
            })
        });
        let output = output.and_then(|output| output.map_err(|fault| faults.push(fault)).ok());
        let holds_schema = self.model.holds_json_schema(&self.options);
        let way = output.as_ref().map(|output| output.way(holds_schema));
        if let Some(output) = output.as_ref()
            && way.is_some_and(Way::has_tool)
        {
            if tools.get(FINAL_ANSWER).is_some() {
                faults.push(BuildFault::OutputTool { tool: FINAL_ANSWER });
            }
            // Behind the others: those are called first.
            match ToolSet::new(output.tool()) {
                Ok(tool) => tools = ToolSet::layered([tools, tool]),
                Err(error) => faults.push(error.into()),
            }
        }
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
        let wiring = wire(&hooks, brought.keys, output.is_some());
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
                output,
                way,
                runs_tools: self.runs_tools,
                streaming: self.streaming,
                record_content: self.record_content,
            }),
            graph,
        })
    }

    /// What is wrong with a setting alone, whatever the others are.
    fn wrong_settings(&self) -> Vec<BuildFault> {
        let mut faults = Vec::new();
        if self.name.trim().is_empty() {
            faults.push(BuildFault::BlankName);
        }
        if self.output_key.as_deref() == Some(MESSAGES) {
            faults.push(BuildFault::ReservedOutputKey);
        }
        let zeros = [
            ("max_parallel_tools", self.max_parallel == 0),
            ("tool_execution_timeout", self.tool_timeout.is_zero()),
            ("limits.model_calls", self.limits.model_calls == Some(0)),
        ];
        let zeros = zeros.into_iter().filter(|(_, is_zero)| *is_zero);
        faults.extend(zeros.map(|(setting, _)| BuildFault::Zero { setting }));
        faults
    }
}
