//! The calls of one message, and the results they have so far.

use smol_str::SmolStr;
use std::collections::HashMap;
use std::sync::Arc;

use super::misfit::TranscriptError;
use super::{ToolCall, ToolResult};
use crate::id::FEW;

/// The results so far for the calls of the last message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenGroup {
    /// By call position; `None` until there is one. Shared with snapshots.
    results: Option<Arc<Vec<Option<ToolResult>>>>,
    /// The positions by id, if there are many calls.
    positions: Option<Arc<HashMap<SmolStr, usize>>>,
    pub(super) missing: usize,
}

impl OpenGroup {
    /// A group without results, or the id that two of the calls share.
    pub(super) fn new(calls: &[ToolCall]) -> Result<Self, String> {
        let positions = match calls.len() > FEW {
            true => Some(Self::positions(calls)?),
            false => {
                for (position, call) in calls.iter().enumerate() {
                    if calls[..position].iter().any(|other| other.id == call.id) {
                        return Err(call.id.to_string());
                    }
                }
                None
            }
        };
        Ok(Self {
            results: None,
            positions,
            missing: calls.len(),
        })
    }

    fn positions(calls: &[ToolCall]) -> Result<Arc<HashMap<SmolStr, usize>>, String> {
        let mut positions = HashMap::with_capacity(calls.len());
        for (position, call) in calls.iter().enumerate() {
            if positions.insert(call.id.clone(), position).is_some() {
                return Err(call.id.to_string());
            }
        }
        Ok(Arc::new(positions))
    }

    /// Takes a result for one of `calls`, whose group this is.
    pub(super) fn answer(
        &mut self,
        calls: &[ToolCall],
        result: ToolResult,
    ) -> Result<(), TranscriptError> {
        let position = match &self.positions {
            Some(positions) => positions.get(result.call_id.as_str()).copied(),
            None => calls.iter().position(|call| call.id == result.call_id),
        };
        let Some(position) = position else {
            let call_id = result.call_id.into();
            return Err(TranscriptError::UnknownCall { call_id });
        };
        if !self.is_open(position) {
            let call_id = result.call_id.into();
            return Err(TranscriptError::AlreadyAnswered { call_id });
        }
        let none = || Arc::new(vec![None; calls.len()]);
        let results = self.results.get_or_insert_with(none);
        if let Some(slot) = Arc::make_mut(results).get_mut(position) {
            *slot = Some(result);
            self.missing -= 1;
        }
        Ok(())
    }

    pub(super) fn is_open(&self, position: usize) -> bool {
        let result = self.results().get(position);
        result.is_none_or(Option::is_none)
    }

    /// What there is, by call position; empty if there is none.
    pub(super) fn results(&self) -> &[Option<ToolResult>] {
        self.results.as_ref().map_or(&[], |results| &results[..])
    }

    pub(super) fn into_results(self, calls: usize) -> Vec<Option<ToolResult>> {
        self.results
            .map_or_else(|| vec![None; calls], Arc::unwrap_or_clone)
    }
}
