//! Where a run pauses: before a node, behind it, or because it asks something.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::RunError;
use super::checkpoint::record::{AFTER, Asked};
use super::compiled::Target;
use super::line::{Done, Line, Next};
use super::node::Question;
use super::runner::Told;
use super::way::Way;
use crate::state::delta::StateDelta;

impl Line<'_> {
    /// Why the line stops before a node, if it does.
    pub(super) fn is_held(&self, node: usize) -> Option<&'static str> {
        if self.graph.inner.nodes[node].pauses_before {
            return Some("before");
        }
        (self.inner.is_none() && self.run.drain.is_cancelled()).then_some("stop")
    }

    pub(super) async fn hold(
        &mut self,
        node: usize,
        place: &str,
        key: &str,
    ) -> Result<Next, RunError> {
        let asked = vec![self.breakpoint(place, key, Value::Null)];
        let done = Done {
            asked,
            ..Done::of(Some(node), Vec::new())
        };
        self.pause(node, done).await
    }

    /// Why the line stops behind a node that has ended, if it does.
    pub(super) fn held_after(
        &self,
        node: usize,
        place: &str,
        payload: Option<Value>,
    ) -> Vec<Arc<Asked>> {
        let held = self.graph.inner.nodes[node]
            .pauses_after
            .then_some(Value::Null);
        let held = payload.or(held);
        held.map(|payload| self.breakpoint(place, AFTER, payload))
            .into_iter()
            .collect()
    }

    fn breakpoint(&self, place: &str, key: &str, payload: Value) -> Arc<Asked> {
        Arc::new(Asked {
            id: self.run.fresh_id(place, key),
            node: place.to_owned(),
            key: key.to_owned(),
            payload,
            about: Value::Null,
            is_breakpoint: true,
        })
    }

    /// Questions with their ids: one that is still open keeps its own.
    pub(super) fn asked(
        &self,
        place: &str,
        told: &Told,
        questions: Vec<Question>,
    ) -> Vec<Arc<Asked>> {
        if questions.is_empty() {
            return Vec::new();
        }
        // What it was told once it is told again, as long as it goes on asking.
        let answered = told.asked.iter().filter(|(_, answer)| answer.is_some());
        let mut all: Vec<Arc<Asked>> = answered.map(|(asked, _)| Arc::clone(asked)).collect();
        let open = told
            .asked
            .iter()
            .rev()
            .filter(|(asked, answer)| answer.is_none() && !asked.is_breakpoint);
        // Of two with one key, the first.
        let open: HashMap<&str, &str> = open.map(|(asked, _)| (&*asked.key, &*asked.id)).collect();
        for (position, question) in questions.into_iter().enumerate() {
            let key = question.key.unwrap_or_else(|| position.to_string());
            let id = match open.get(&*key) {
                Some(id) => (*id).to_owned(),
                None => self.run.fresh_id(place, &key),
            };
            all.push(Arc::new(Asked {
                id,
                node: place.to_owned(),
                key,
                payload: question.payload,
                about: question.about,
                is_breakpoint: false,
            }));
        }
        all
    }

    /// Stays at a node until somebody answers, or lets it go on.
    pub(super) async fn pause(&mut self, node: usize, mut done: Done) -> Result<Next, RunError> {
        done.stays = true;
        let here = Way::To(Target::Node(node));
        self.done(done, StateDelta::default(), |_| Ok(here)).await
    }
}
