//! Branches side by side: each works on a state of its own, and where they meet their updates
//! are joined in the order in which the branches were declared, as if they had run one after
//! another.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::checkpoint::record::{Asked, Branch, Frontier};
use super::compiled::{Each, Target};
use super::line::{Done, Line, LineEnd, Next};
use super::way::Way;
use super::{CompiledGraph, RunError, START, StateUpdate};
use crate::boxed::BoxFuture;
use crate::panics;
use crate::state::delta::StateDelta;

/// How branches run.
///
/// ```
/// use agent_core::graph::FanOut;
///
/// // The first that succeeds is enough.
/// let fastest = FanOut::any();
/// // All, but no more than four at once.
/// let polite = FanOut::all().max_concurrency(4);
/// ```
#[derive(Debug, Clone)]
#[must_use = "it does nothing until it is given to `StateGraph::fan_out`"]
pub struct FanOut {
    any: bool,
    max_concurrency: usize,
    cancels: bool,
}

impl FanOut {
    /// Every branch must succeed. The first that fails stops the others, which change nothing.
    pub fn all() -> Self {
        Self {
            any: false,
            max_concurrency: usize::MAX,
            cancels: true,
        }
    }

    /// The first branch that succeeds stops the others, and only its updates are joined. The run
    /// fails if all fail.
    pub fn any() -> Self {
        Self {
            any: true,
            ..Self::all()
        }
    }

    /// How many branches run at once; the others wait. 0 is taken for 1. Default: any number.
    pub fn max_concurrency(mut self, limit: usize) -> Self {
        self.max_concurrency = limit.max(1);
        self
    }

    /// Lets the others go on to their ends when a branch fails, before the run fails. Default:
    /// they are stopped.
    pub fn finish_all(mut self) -> Self {
        self.cancels = false;
        self
    }
}

impl Default for FanOut {
    fn default() -> Self {
        Self::all()
    }
}

/// Where lines part.
#[derive(Debug, Clone)]
pub(super) struct Parting {
    /// The node behind which they part; `None` for the start.
    pub(super) from: Option<usize>,
    /// The first node of each, and what it alone is told.
    pub(super) starts: Vec<(Target, Option<StateUpdate>)>,
    /// Where they meet.
    pub(super) join: Target,
}

impl Parting {
    pub(super) fn new(from: Option<usize>, targets: &[Target], join: Target) -> Self {
        Self {
            from,
            starts: targets.iter().map(|target| (*target, None)).collect(),
            join,
        }
    }

    pub(super) fn frontier(&self, graph: &CompiledGraph) -> Frontier {
        let name = |target: &Target| graph.inner.target_name(*target).to_owned();
        let from = match self.from {
            None => START.to_owned(),
            Some(node) => name(&Target::Node(node)),
        };
        let starts = self.starts.iter().map(|(target, input)| Branch {
            node: name(target),
            input: input.clone(),
        });
        Frontier::Branches {
            from,
            branches: starts.collect(),
            join: name(&self.join),
        }
    }
}

/// How a branch ended, and what it added.
type Ended = (LineEnd, Vec<StateUpdate>);

impl Line<'_> {
    /// Runs branches up to where they meet.
    pub(super) fn part(&mut self, parting: Parting) -> BoxFuture<'_, Result<Next, RunError>> {
        Box::pin(self.run_branches(parting))
    }

    async fn run_branches(&mut self, parting: Parting) -> Result<Next, RunError> {
        let how = self.graph.inner.fan_out(parting.from);
        let count = parting.starts.len();
        let mut ended: Vec<Option<Ended>> = (0..count).map(|_| None).collect();
        let mut failed: BTreeMap<usize, RunError> = BTreeMap::new();
        let mut won = None;
        {
            let (this, parting) = (&*self, &parting);
            let lines: Vec<BoxFuture<'_, (usize, Result<Ended, RunError>)>> = (0..count)
                .map(|position| -> BoxFuture<'_, _> {
                    Box::pin(async move { (position, this.branch(parting, position).await) })
                })
                .collect();
            let at_once = how.max_concurrency.min(count).max(1);
            let mut running = stream::iter(lines).buffer_unordered(at_once);
            while let Some((position, end)) = running.next().await {
                match end {
                    Ok((LineEnd::Paused(asked), updates)) => {
                        ended[position] = Some((LineEnd::Paused(asked), updates));
                    }
                    Ok(end) => {
                        ended[position] = Some(end);
                        if how.any {
                            won = Some(position);
                            break;
                        }
                    }
                    Err(error) => {
                        let is_last = error.is_cancelled() || (!how.any && how.cancels);
                        failed.insert(position, error);
                        if is_last {
                            break;
                        }
                    }
                }
            }
        }
        if let Some(position) = won {
            let winner = ended.swap_remove(position);
            ended = vec![winner];
        } else if how.any {
            ended.retain(|end| matches!(end, Some((LineEnd::Paused(_), _))));
        }
        let is_over = won.is_some() || (how.any && !ended.is_empty());
        if let (false, Some((_, error))) = (is_over, failed.pop_first()) {
            let error = error.with_state(self.state.clone());
            return Err(match how.any && !error.is_cancelled() {
                false => error,
                true => RunError::AllBranchesFailed {
                    from: self.source_name(parting.from),
                    first: Box::new(error),
                    others: failed.into_values().collect(),
                    state: self.state.clone(),
                },
            });
        }
        self.meet(parting, ended).await
    }

    async fn branch(&self, parting: &Parting, position: usize) -> Result<Ended, RunError> {
        let (start, input) = parting.starts[position].clone();
        let from = self.source_name(parting.from);
        let path = format!("{}{from}>{position}/", self.path());
        let names = (path, self.shown().to_owned());
        let graph = self.graph.clone();
        let (mut line, way) = self.inside(&graph, Some(parting.join), names, input)?;
        let way = way.unwrap_or(Way::To(start));
        let end = line.follow_inside(way).await?;
        Ok((end, line.into_updates()))
    }

    /// Joins what the branches did, or pauses where one of them does.
    async fn meet(
        &mut self,
        parting: Parting,
        ended: Vec<Option<Ended>>,
    ) -> Result<Next, RunError> {
        let mut asked: Vec<Arc<Asked>> = Vec::new();
        let mut reached = Target::End;
        let mut branches = Vec::with_capacity(ended.len());
        for (end, updates) in ended.into_iter().flatten() {
            match end {
                LineEnd::Paused(of_branch) => asked.extend(of_branch),
                LineEnd::Reached(target) if target == parting.join => reached = target,
                LineEnd::Reached(_) | LineEnd::Halted => {}
            }
            branches.push(updates);
        }
        let ran = parting.starts.iter().map(|(start, _)| {
            let name = self.graph.inner.target_name(*start);
            name.into()
        });
        let mut done = Done {
            asked,
            ..Done::of(parting.from, ran.collect())
        };
        if !done.asked.is_empty() {
            done.stays = true;
            return self
                .done(done, StateDelta::default(), |_| Ok(Way::Branches(parting)))
                .await;
        }
        self.check_keys(&parting, &branches)?;
        done.updates = branches.into_iter().flatten().collect();
        self.done(done, StateDelta::default(), |_| Ok(Way::To(reached)))
            .await
    }

    /// Refuses a key that several branches wrote though nobody said how to join it.
    fn check_keys(&self, parting: &Parting, branches: &[Vec<StateUpdate>]) -> Result<(), RunError> {
        let strategies = &self.graph.inner.strategies;
        let mut writers: BTreeMap<&str, usize> = BTreeMap::new();
        for (position, updates) in branches.iter().enumerate() {
            for key in updates.iter().flat_map(StateUpdate::keys) {
                let is_plain = key != crate::state::MESSAGES && strategies.declared(key).is_none();
                let first = *writers.entry(key).or_insert(position);
                if is_plain && first != position {
                    return Err(RunError::KeyConflict {
                        key: key.to_owned(),
                        branches: Box::new(
                            [first, position].map(|at| self.branch_name(parting, at)),
                        ),
                        state: self.state.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    fn branch_name(&self, parting: &Parting, position: usize) -> String {
        let Some((start, _)) = parting.starts.get(position) else {
            return String::new();
        };
        let name = self.graph.inner.target_name(*start);
        let same = parting.starts.iter().filter(|(other, _)| other == start);
        match same.count() {
            1 => name.to_owned(),
            _ => format!("{name}[{position}]"),
        }
    }

    /// One branch for each item.
    pub(super) fn part_for_each(&self, node: Option<usize>, each: &Each) -> Result<Way, RunError> {
        let state = &self.state;
        let inputs = match panics::caught(|| (each.items)(state)) {
            None => return Err(self.panicked(node)),
            Some(Err(source)) => return Err(self.router_error(node, source)),
            Some(Ok(inputs)) => inputs,
        };
        if inputs.is_empty() {
            return Ok(Way::To(each.join));
        }
        Ok(Way::Branches(Parting {
            from: node,
            starts: inputs
                .into_iter()
                .map(|input| (each.to, Some(input)))
                .collect(),
            join: each.join,
        }))
    }
}

/// The items of a fan-out over a list, as what each branch is told.
pub(super) type Items =
    Arc<dyn Fn(&super::State) -> Result<Vec<StateUpdate>, crate::boxed::BoxError> + Send + Sync>;
