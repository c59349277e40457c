//! What a run has done so far, against its limits.

use std::collections::BTreeMap;

use serde_json::Value;

use super::limits::Limits;
use crate::event::Limit;
use crate::message::{ContentPart, ToolResult};

/// What a run has done so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    model_calls: u32,
    /// Jumps of hooks since the last model call.
    jumps: u32,
    tool_calls: u32,
    by_tool: BTreeMap<String, u32>,
    /// How many of the tool calls had their result before this run.
    earlier: u32,
    last: Option<Last>,
    errors_in_a_row: u32,
}

/// The call that ended last, and how often in a row it gave the same.
#[derive(Debug, Clone)]
struct Last {
    tool: String,
    arguments: String,
    content: Vec<ContentPart>,
    times: u32,
}

impl Counts {
    /// Counts a model call. `Err` if it is one too many.
    pub(super) fn model_call(&mut self, limits: &Limits) -> Result<(), Limit> {
        if reached(limits.model_calls, self.model_calls) {
            return Err(Limit::ModelCalls);
        }
        self.model_calls += 1;
        self.jumps = 0;
        Ok(())
    }

    /// Counts a jump of a hook that does not end the run. `Err` if it is one too many.
    pub(super) fn jump(&mut self, limits: &Limits) -> Result<(), Limit> {
        if reached(limits.jumps, self.jumps) {
            return Err(Limit::Jumps);
        }
        self.jumps += 1;
        Ok(())
    }

    /// True if the model call that was just counted is the last one there may be.
    pub(super) fn is_last_model_call(&self, limits: &Limits) -> bool {
        reached(limits.model_calls, self.model_calls)
    }

    /// Counts a tool call: the limit of this tool first, then the turn's, then repetition. `own`
    /// is the limit that the tool itself brings.
    pub(super) fn tool_call(
        &mut self,
        tool: &str,
        arguments: &str,
        own: Option<u32>,
        limits: &Limits,
    ) -> Result<(), Limit> {
        let (before, of_turn) = (self.count_of(tool), self.tool_calls);
        self.tool_calls = self.tool_calls.saturating_add(1);
        if reached(limits.of_tool(tool), before) || reached(own, before) {
            return Err(Limit::ToolCallsOf(tool.to_owned()));
        }
        if reached(limits.tool_calls, of_turn) {
            return Err(Limit::ToolCalls);
        }
        let repeats = |last: &Last| {
            reached(limits.repeated_calls, last.times)
                && last.tool == tool
                && last.arguments == canonical(arguments)
        };
        if self.last.as_ref().is_some_and(repeats) {
            return Err(Limit::RepeatedCall);
        }
        Ok(())
    }

    /// Counts a call of this tool; gives how many there were before.
    fn count_of(&mut self, tool: &str) -> u32 {
        let Some(count) = self.by_tool.get_mut(tool) else {
            self.by_tool.insert(tool.to_owned(), 1);
            return 0;
        };
        let before = *count;
        *count = before.saturating_add(1);
        before
    }

    /// Counts a call of the turn that had its result before this run.
    pub(super) fn earlier_tool_call(&mut self, tool: &str) {
        self.count_of(tool);
        self.tool_calls = self.tool_calls.saturating_add(1);
        self.earlier = self.earlier.saturating_add(1);
    }

    /// How many model calls and tool calls this run has made.
    pub(super) fn totals(&self) -> (u32, u32) {
        (
            self.model_calls,
            self.tool_calls.saturating_sub(self.earlier),
        )
    }

    /// Notes how a call ended; calls are noted in call order. `Err` if the run has to end.
    pub(super) fn ended(
        &mut self,
        tool: &str,
        arguments: &str,
        result: &ToolResult,
        limits: &Limits,
    ) -> Result<(), Limit> {
        if limits.repeated_calls.is_some() {
            self.note(tool, canonical(arguments), &result.content);
        }
        self.errors_in_a_row = match result.is_error {
            true => self.errors_in_a_row.saturating_add(1),
            false => 0,
        };
        if reached(limits.errors_in_a_row, self.errors_in_a_row) {
            return Err(Limit::ConsecutiveErrors);
        }
        Ok(())
    }

    fn note(&mut self, tool: &str, arguments: String, content: &[ContentPart]) {
        match &mut self.last {
            Some(last)
                if last.tool == tool && last.arguments == arguments && last.content == content =>
            {
                last.times = last.times.saturating_add(1);
            }
            last => {
                *last = Some(Last {
                    tool: tool.to_owned(),
                    arguments,
                    content: content.to_vec(),
                    times: 1,
                });
            }
        }
    }
}

fn reached(limit: Option<u32>, count: u32) -> bool {
    limit.is_some_and(|limit| count >= limit)
}

/// The arguments with the keys of every object sorted and without spaces; as they are if they
/// are no JSON.
pub(super) fn canonical(arguments: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(arguments) else {
        return arguments.trim().to_owned();
    };
    value.sort_all_objects();
    match value {
        // No arguments at all are the empty object.
        Value::Null => "{}".to_owned(),
        value => value.to_string(),
    }
}
