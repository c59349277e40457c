//! Lines inside of lines: how one begins, or goes on, in a branch or in a graph that stands in
//! the place of a node.

use super::checkpoint::record::Entry;
use super::compiled::Target;
use super::line::{DEEPEST, Done, Inner, Line, LineEnd, Next};
use super::way::Way;
use super::{CompiledGraph, RunError, StateUpdate as Update};
use crate::state::delta::StateDelta;

impl Line<'_> {
    /// A line inside of this one, as it stood when it was last written down; and what comes
    /// next in it, if it had begun.
    pub(super) fn inside(
        &self,
        graph: &CompiledGraph,
        stop: Option<Target>,
        (path, shown): (String, String),
        input: Option<Update>,
    ) -> Result<(Self, Option<Way>), RunError> {
        if self.depth >= DEEPEST {
            return Err(RunError::TooDeep {
                limit: DEEPEST,
                state: self.state.clone(),
            });
        }
        let ended = self.run.recorder.as_ref();
        let ended = ended.map_or_else(Vec::new, |recorder| recorder.ended(&path));
        let mut line = Self {
            run: self.run,
            graph: graph.clone(),
            state: self.state.clone(),
            stop,
            inner: Some(Inner {
                path,
                shown,
                updates: Vec::new(),
            }),
            depth: self.depth + 1,
        };
        if let Some(input) = input {
            line.join_quietly(input, None)?;
        }
        let mut way = None;
        for entry in ended {
            if let Entry::Ended {
                update, next, node, ..
            } = entry
            {
                let node = line.graph.inner.position(&node);
                line.join_quietly(update.clone(), node)?;
                line.inner_mut(|inner| inner.updates.push(update));
                let Some(next) = next else {
                    continue;
                };
                let thread = self.run.recorder.as_ref().map(|it| it.thread().to_string());
                let next = Way::of(&line.graph, &next, &thread.unwrap_or_default());
                way = Some(next.map_err(|source| self.checkpoint_error(source))?);
            }
        }
        Ok((line, way))
    }

    fn inner_mut(&mut self, f: impl FnOnce(&mut Inner)) {
        if let Some(inner) = &mut self.inner {
            f(inner);
        }
    }

    fn join_quietly(&mut self, update: Update, node: Option<usize>) -> Result<(), RunError> {
        let joined = self.graph.inner.strategies.apply(&mut self.state, update);
        joined.map_err(|source| self.update_error(node, source))
    }

    /// What the line added, once it is over.
    pub(super) fn into_updates(self) -> Vec<Update> {
        self.inner.map_or_else(Vec::new, |inner| inner.updates)
    }

    /// Goes through a graph that stands in the place of a node.
    pub(super) async fn pass_through(
        &mut self,
        node: usize,
        sub: CompiledGraph,
    ) -> Result<Next, RunError> {
        let name = &self.graph.inner.nodes[node].name;
        let names = (
            format!("{}/", self.place(node)),
            format!("{}{name}-", self.shown()),
        );
        let (mut line, way) = self.inside(&sub, None, names, None)?;
        let end = async {
            let way = match way {
                Some(way) => way,
                None => line.follow_edges(None)?,
            };
            line.follow_inside(way).await
        };
        let end = self.in_time(node, end).await;
        let updates = line.into_updates();
        let end = end.map_err(|error| error.with_state(self.state.clone()))?;
        if let LineEnd::Paused(asked) = end {
            let is_held = asked.iter().all(|asked| asked.is_breakpoint);
            let ran = match is_held {
                true => Vec::new(),
                false => vec![self.node_name(node)],
            };
            let done = Done {
                asked,
                ..Done::of(Some(node), ran)
            };
            return self.pause(node, done).await;
        }
        let asked = self.held_after(node, &self.place(node), None);
        let done = Done {
            updates,
            asked,
            ..Done::of(Some(node), vec![self.node_name(node)])
        };
        self.done(done, StateDelta::default(), |line| {
            line.follow_edges(Some(node))
        })
        .await
    }
}
