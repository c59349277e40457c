//! Joins an update into a state, as a whole or not at all.
//!
//! What can fail comes first, on copies or so that it can be taken back; what cannot fail is then
//! done in place, so that adding to a long list or history that nobody else holds copies nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::delta::{Change, StateDelta, message_effects, short_effect};
use super::update::{MessageChange, ValueChange, check_key};
use super::{KeyStrategy, State, StateError, StateUpdate};
use crate::message::{Transcript, TranscriptError};

/// The strategy of each key. A key without one is replaced.
#[derive(Debug, Clone, Default)]
pub struct KeyStrategies {
    strategies: BTreeMap<Arc<str>, KeyStrategy>,
}

impl KeyStrategies {
    /// No strategies: every key is replaced.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares the strategy of a key; of two for one key the later stands.
    #[must_use]
    pub fn with(mut self, key: impl Into<Arc<str>>, strategy: KeyStrategy) -> Self {
        self.strategies.insert(key.into(), strategy);
        self
    }

    /// The strategy that was declared for a key, if there is one.
    #[must_use]
    pub fn declared(&self, key: &str) -> Option<&KeyStrategy> {
        self.strategies.get(key)
    }

    /// These strategies, and for keys that have none here those of others.
    pub(crate) fn or(&self, others: &Self) -> Self {
        let mut strategies = others.strategies.clone();
        strategies.extend(self.strategies.clone());
        Self { strategies }
    }

    /// The declared strategies, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &KeyStrategy)> {
        self.strategies
            .iter()
            .map(|(key, strategy)| (key.as_ref(), strategy))
    }

    /// Joins an update into a state.
    ///
    /// # Errors
    ///
    /// The first change that cannot be made, as a [`StateError`] that names its key; the
    /// state is then as it was.
    pub fn apply(&self, state: &mut State, update: StateUpdate) -> Result<(), StateError> {
        self.apply_to(state, update, &mut None)
    }

    /// As [`apply`](Self::apply), and tells what it did.
    pub(crate) fn apply_recorded(
        &self,
        state: &mut State,
        update: StateUpdate,
    ) -> Result<StateDelta, StateError> {
        let mut done = Some(StateDelta::default());
        self.apply_to(state, update, &mut done)?;
        Ok(done.unwrap_or_default())
    }

    fn apply_to(
        &self,
        state: &mut State,
        update: StateUpdate,
        done: &mut Option<StateDelta>,
    ) -> Result<(), StateError> {
        let StateUpdate { values, messages } = update;
        let plan = self.plan(state, values, done)?;
        if let Some(done) = done {
            done.0.extend(message_effects(&messages));
        }
        change_messages(&mut state.transcript, messages)?;

        if !plan.is_empty() {
            let values = Arc::make_mut(&mut state.values);
            for (key, (step, is_told)) in plan {
                let value = match step {
                    ValuePlan::Ready(value) => value,
                    ValuePlan::InPlace(strategy, changes) => {
                        let old = values.remove(&key).map(Arc::unwrap_or_clone);
                        strategy.join(&key, old, changes)?
                    }
                };
                let value = value.map(Arc::new);
                if let (Some(done), false) = (&mut *done, is_told) {
                    let key = Arc::clone(&key);
                    done.0.push(match &value {
                        Some(value) => Change::Set(key, Arc::clone(value)),
                        None => Change::Remove(key),
                    });
                }
                match value {
                    Some(value) => values.insert(key, value),
                    None => values.remove(&key),
                };
            }
        }
        Ok(())
    }

    /// What to do with each key, and whether `done` tells it already.
    fn plan<'a>(
        &'a self,
        state: &State,
        values: Vec<(Arc<str>, ValueChange)>,
        done: &mut Option<StateDelta>,
    ) -> Result<BTreeMap<Arc<str>, (ValuePlan<'a>, bool)>, StateError> {
        let mut by_key: BTreeMap<Arc<str>, Vec<ValueChange>> = BTreeMap::new();
        for (key, change) in values {
            check_key(&key)?;
            by_key.entry(key).or_default().push(change);
        }
        let mut plan = BTreeMap::new();
        for (key, changes) in by_key {
            let strategy = self.declared(&key).unwrap_or(&KeyStrategy::Replace);
            let place = (&key, state.value(&key));
            let effect = done
                .as_ref()
                .and_then(|_| short_effect(strategy, place, &changes));
            let broken = changes
                .iter()
                .any(|change| matches!(change, ValueChange::Broken(_)));
            let step = if strategy.can_fail() || broken {
                let old = state.value(&key).cloned();
                ValuePlan::Ready(strategy.join(&key, old, changes)?)
            } else {
                ValuePlan::InPlace(strategy, changes)
            };
            let is_told = effect.is_some();
            if let (Some(done), Some(effect)) = (&mut *done, effect) {
                done.0.extend(effect);
            }
            plan.insert(key, (step, is_told));
        }
        Ok(plan)
    }
}

/// What to do with one key, after everything that can fail was tried.
enum ValuePlan<'a> {
    /// The value to store; `None` deletes the key.
    Ready(Option<Value>),
    /// Changes that cannot fail.
    InPlace(&'a KeyStrategy, Vec<ValueChange>),
}

/// Makes all of the changes, or none.
fn change_messages(
    transcript: &mut Transcript,
    changes: Vec<MessageChange>,
) -> Result<(), TranscriptError> {
    let is_answer = |change: &MessageChange| matches!(change, MessageChange::Answer(_));
    if !changes.is_empty() && changes.iter().all(is_answer) {
        let results = changes.into_iter().filter_map(|change| match change {
            MessageChange::Answer(result) => Some(result),
            _ => None,
        });
        let results = results.collect();
        return transcript.all_or_nothing(|transcript| transcript.answers(results));
    }
    let only_adds = changes
        .iter()
        .all(|change| matches!(change, MessageChange::Push(_) | MessageChange::Answer(_)));
    if only_adds {
        return transcript.all_or_nothing(|transcript| {
            let mut changes = changes.into_iter();
            changes.try_for_each(|change| change_transcript(transcript, change))
        });
    }
    let mut changed = transcript.clone();
    let mut added = Vec::new();
    // Those that follow one another are made together: each copies the message.
    let mut edits = Vec::new();
    for change in changes {
        if let MessageChange::EditCall(call_id, arguments) = change {
            edits.push((call_id, arguments));
            continue;
        }
        changed.edit_calls(std::mem::take(&mut edits))?;
        match change {
            MessageChange::Remove(id) => {
                changed.remove(&id);
            }
            MessageChange::ReplaceAll(messages) => {
                added.clear();
                changed = Transcript::from_messages(messages)?;
            }
            added_one => added.push(added_one),
        }
    }
    changed.edit_calls(edits)?;
    for change in added {
        change_transcript(&mut changed, change)?;
    }
    *transcript = changed;
    Ok(())
}

fn change_transcript(
    transcript: &mut Transcript,
    change: MessageChange,
) -> Result<(), TranscriptError> {
    match change {
        MessageChange::Push(message) => transcript.push(message),
        MessageChange::Answer(result) => transcript.answer(result),
        MessageChange::EditCall(call_id, arguments) => {
            transcript.edit_calls(vec![(call_id, arguments)])
        }
        MessageChange::Remove(id) => {
            transcript.remove(&id);
            Ok(())
        }
        MessageChange::ReplaceAll(messages) => {
            *transcript = Transcript::from_messages(messages)?;
            Ok(())
        }
    }
}
