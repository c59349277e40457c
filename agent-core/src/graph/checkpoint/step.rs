//! What one step did, as it comes to be a checkpoint.

use std::sync::Arc;
use std::time::SystemTime;

use super::load::Loaded;
use super::record::{Asked, Entry, Frontier, Record};
use super::same::{Item, places, since};
use crate::state::delta::StateDelta;

/// What one step did.
#[derive(Debug)]
pub(in crate::graph) struct Step {
    pub(in crate::graph) ran: Vec<String>,
    pub(in crate::graph) delta: StateDelta,
    pub(in crate::graph) next: Frontier,
    pub(in crate::graph) interrupts: Vec<Arc<Asked>>,
    pub(in crate::graph) effects: Vec<String>,
    /// True if what comes next is what came next before: the step pauses where it began.
    pub(in crate::graph) stays: bool,
}

impl Step {
    /// Nothing but where the thread stands.
    pub(super) fn standing(loaded: &Loaded) -> Self {
        Self {
            ran: Vec::new(),
            delta: StateDelta::default(),
            next: loaded.next.clone(),
            interrupts: loaded.asked.clone(),
            effects: Vec::new(),
            stays: true,
        }
    }

    /// Takes in the step after it, to be written down with it.
    pub(super) fn extend(&mut self, step: Self) {
        self.ran.extend(step.ran);
        self.delta.extend(step.delta);
        self.effects.extend(step.effects);
        self.next = step.next;
        self.interrupts = step.interrupts;
        self.stays &= step.stays;
    }

    /// The checkpoint behind one that asks this, if there is one.
    pub(super) fn record(
        self,
        step: u64,
        parent: Option<&[Arc<Asked>]>,
        journal: Vec<Item<Entry>>,
    ) -> Record {
        let asked = places(parent.unwrap_or_default(), &self.interrupts);
        let interrupts = since(asked.into_iter()).into_iter();
        let is_known = self.stays && parent.is_some();
        Record {
            step,
            created: SystemTime::now(),
            ran: self.ran,
            next: Some(self.next).filter(|next| !is_known || next.is_short()),
            delta: self.delta,
            interrupts: interrupts.map(|item| item.map(Arc::clone)).collect(),
            journal,
            effects: self.effects,
        }
    }
}
