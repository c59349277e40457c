//! The end of a step: its updates are joined, the way on is found, and both are written down.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use super::checkpoint::record::{Entry, Frontier};
use super::checkpoint::{CheckpointError, Recorder, Step};
use super::compiled::Target;
use super::line::{Done, Line, Next};
use super::way::Way;
use super::{GraphEvent, KeyStrategies, RunError, StateUpdate as Update, StreamMode};
use crate::state::MESSAGES;
use crate::state::delta::StateDelta;

static MESSAGES_KEY: LazyLock<Arc<str>> = LazyLock::new(|| MESSAGES.into());

impl Line<'_> {
    /// Joins what a step did, finds the way on, and writes both down.
    pub(super) async fn done(
        &mut self,
        done: Done,
        delta: StateDelta,
        way: impl FnOnce(&Self) -> Result<Way, RunError>,
    ) -> Result<Next, RunError> {
        if !self.is_unheard() {
            // Boxed, because a run that nobody hears and writes down would have room for it too.
            return Box::pin(self.done_and_told(done, delta, way)).await;
        }
        self.join_all(done.node, done.updates, false)?;
        let way = way(self)?;
        Ok(match done.asked.is_empty() {
            true => Next::Go(way),
            false => Next::Paused(done.asked),
        })
    }

    /// True if nobody is told what the line does.
    pub(super) fn is_unheard(&self) -> bool {
        self.inner.is_none() && self.run.recorder.is_none() && self.run.events.is_silent()
    }

    async fn done_and_told(
        &mut self,
        done: Done,
        mut delta: StateDelta,
        way: impl FnOnce(&Self) -> Result<Way, RunError>,
    ) -> Result<Next, RunError> {
        let events = &self.run.events;
        let keys = match events.tells(StreamMode::Nodes) {
            true => keys(&done.updates),
            false => Vec::new(),
        };
        let spoken = done.speaker.filter(|_| events.tells(StreamMode::Updates));
        let spoken = spoken.map(|node| (node, done.updates.clone()));
        let is_step = self.inner.is_none() && !done.ran.is_empty();
        let is_told = self.inner.is_none() && self.run.recorder.is_some();
        let kept = self.inner.is_some().then(|| done.updates.clone());
        delta.extend(self.join_all(done.node, done.updates, is_told)?);
        let way = way(self);
        if let (Ok(way), Some(recorder)) = (&way, &self.run.recorder) {
            let step = Step {
                ran: done.ran.iter().map(ToString::to_string).collect(),
                delta,
                next: self.frontier(way),
                interrupts: done.asked.clone(),
                effects: done.effects,
                stays: done.stays,
            };
            // Boxed, because a run without a thread would have room for it too.
            Box::pin(self.write(recorder, kept.as_deref(), (done.node, step)))
                .await
                .map_err(|source| self.checkpoint_error(source))?;
        }
        if let (Some(kept), Some(inner)) = (kept, &mut self.inner) {
            inner.updates.extend(kept);
        }
        if !keys.is_empty() {
            events.emit(GraphEvent::StateUpdated { keys }).await;
        }
        for (node, update) in spoken.into_iter().flat_map(|(node, updates)| {
            let updates = updates.into_iter();
            updates.map(move |update| (Arc::clone(&node), update))
        }) {
            events.emit(GraphEvent::Update { node, update }).await;
        }
        if is_step && events.tells(StreamMode::Values) {
            events.emit(GraphEvent::Values(self.state.clone())).await;
        }
        match done.asked.is_empty() {
            true => way.map(Next::Go),
            false => way.map(|_| Next::Paused(done.asked)),
        }
    }

    /// Joins updates, all or none of them.
    fn join_all(
        &mut self,
        node: Option<usize>,
        updates: Vec<Update>,
        is_told: bool,
    ) -> Result<StateDelta, RunError> {
        let own;
        let strategies = match self.sub_strategies(node) {
            None => &self.graph.inner.strategies,
            Some(joined) => {
                own = joined;
                &own
            }
        };
        let mut delta = StateDelta::default();
        // One update is made as a whole anyway; of several, a copy is changed.
        let mut copy = (updates.len() > 1).then(|| self.state.clone());
        let mut failed = None;
        for update in updates {
            let state = copy.as_mut().unwrap_or(&mut self.state);
            let joined = match is_told {
                true => strategies.apply_recorded(state, update),
                false => strategies
                    .apply(state, update)
                    .map(|()| StateDelta::default()),
            };
            match joined {
                Ok(did) => delta.extend(did),
                Err(source) => {
                    failed = Some(source);
                    break;
                }
            }
        }
        if let Some(source) = failed {
            return Err(self.update_error(node, source));
        }
        if let Some(copy) = copy {
            self.state = copy;
        }
        Ok(delta)
    }

    /// A sub-graph's own strategies hold for keys that the graph around it does not know.
    fn sub_strategies(&self, node: Option<usize>) -> Option<KeyStrategies> {
        let sub = self.graph.inner.nodes[node?].action.sub_graph()?;
        Some(self.graph.inner.strategies.or(&sub.inner.strategies))
    }

    async fn write(
        &self,
        recorder: &Arc<Recorder>,
        kept: Option<&[Update]>,
        (node, step): (Option<usize>, Step),
    ) -> Result<(), CheckpointError> {
        let Some(inner) = &self.inner else {
            return recorder.step_done(step).await;
        };
        let nothing = [Update::new()];
        let updates = match kept {
            None | Some([]) => &nothing[..],
            Some(kept) => kept,
        };
        let (next, interrupts) = recorder.news(&inner.path, step);
        let entries = updates.iter().map(|update| Entry::Ended {
            path: inner.path.clone(),
            node: self.source_name(node),
            update: update.clone(),
            next: next.clone(),
            interrupts: interrupts.clone(),
        });
        recorder.note(entries.collect()).await
    }

    /// What comes next, by names.
    pub(super) fn frontier(&self, way: &Way) -> Frontier {
        match way {
            Way::To(Target::End) => Frontier::End,
            Way::To(Target::Node(node)) => {
                Frontier::Node(self.graph.inner.nodes[*node].name.to_string())
            }
            Way::Branches(parting) => parting.frontier(&self.graph),
        }
    }
}

/// The keys that are written, each once, in order; `messages` last.
fn keys(updates: &[Update]) -> Vec<Arc<str>> {
    let mut seen = HashSet::new();
    let written = updates.iter().flat_map(Update::value_keys);
    let mut keys: Vec<Arc<str>> = written.filter(|key| seen.insert(*key)).cloned().collect();
    if updates.iter().any(Update::changes_messages) {
        keys.push(Arc::clone(&MESSAGES_KEY));
    }
    keys
}
