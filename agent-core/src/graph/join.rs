//! Where branches meet: the nearest node that every way from each of them passes.
//!
//! The sets of nodes that every way to the end passes are found as in "A Simple, Fast Dominance
//! Algorithm" (Cooper, Harvey, Kennedy), in its plain form over sets: graphs are small.

use std::collections::BTreeSet;

use super::compiled::Target;

/// For each node what every way from it to the end passes, the nearest first.
#[derive(Debug, Default)]
pub(super) struct Joins {
    chains: Vec<Vec<usize>>,
    /// The number that stands for the end.
    end: usize,
}

impl Joins {
    /// `ways[n]` is where node `n` leads; the number of nodes stands for the end.
    pub(super) fn of(ways: &[Vec<usize>]) -> Self {
        let end = ways.len();
        let mut passed: Vec<Option<BTreeSet<usize>>> = vec![None; end];
        passed.push(Some(BTreeSet::from([end])));
        // `None` stands for all nodes: nothing is known to leave out yet.
        let mut changes = true;
        while changes {
            changes = false;
            for node in (0..end).rev() {
                let mut common: Option<BTreeSet<usize>> = None;
                for way in &ways[node] {
                    let Some(of_way) = passed.get(*way).and_then(Option::as_ref) else {
                        continue;
                    };
                    common = Some(match common {
                        None => of_way.clone(),
                        Some(common) => common.intersection(of_way).copied().collect(),
                    });
                }
                let Some(mut common) = common else { continue };
                common.insert(node);
                if passed[node].as_ref() != Some(&common) {
                    passed[node] = Some(common);
                    changes = true;
                }
            }
        }
        let length = |node: usize| {
            passed
                .get(node)
                .and_then(Option::as_ref)
                .map_or(0, BTreeSet::len)
        };
        let chains = passed.iter().map(|set| {
            let mut chain: Vec<usize> = set.iter().flatten().copied().collect();
            chain.sort_by_key(|node| std::cmp::Reverse(length(*node)));
            chain
        });
        Self {
            chains: chains.collect(),
            end,
        }
    }

    /// Where ways from these targets meet. `None` if they never do.
    pub(super) fn nearest(&self, targets: &[Target]) -> Option<Target> {
        let chain = |target: &Target| match target {
            Target::Node(node) => self.chains.get(*node),
            Target::End => self.chains.get(self.end),
        };
        let (first, others) = targets.split_first()?;
        let meets = |node: &&usize| {
            others
                .iter()
                .all(|target| chain(target).is_some_and(|chain| chain.contains(node)))
        };
        let node = *chain(first)?.iter().find(meets)?;
        Some(match node == self.end {
            true => Target::End,
            false => Target::Node(node),
        })
    }
}
