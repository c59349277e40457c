//! Where branches meet: the nearest node that every way from each of them passes.
//!
//! What every way to the end passes next is found as in "A Simple, Fast Dominance Algorithm"
//! (Cooper, Harvey, Kennedy), from the end backwards.

use super::compiled::Target;

/// For each node the nearest that every way from it to the end passes.
#[derive(Debug, Default)]
pub(super) struct Joins {
    /// `None` for a node that no way leads from to the end.
    passes: Vec<Option<usize>>,
    /// How many nodes follow in `passes` up to the end.
    depths: Vec<usize>,
    /// The number that stands for the end.
    end: usize,
}

impl Joins {
    /// `ways[n]` is where node `n` leads; the number of nodes stands for the end.
    pub(super) fn of(ways: &[Vec<usize>]) -> Self {
        let end = ways.len();
        let order = from_the_end(ways);
        let mut ranks = vec![0; end + 1];
        for (rank, node) in order.iter().enumerate() {
            ranks[*node] = rank;
        }
        let mut passes: Vec<Option<usize>> = vec![None; end + 1];
        passes[end] = Some(end);
        let mut changes = true;
        while changes {
            changes = false;
            for node in order.iter().copied().filter(|node| *node != end) {
                let known = ways[node].iter().filter(|way| passes[**way].is_some());
                let next = known
                    .copied()
                    .reduce(|one, other| meet(one, other, |node| (passes[node], ranks[node])));
                if next.is_some() && passes[node] != next {
                    passes[node] = next;
                    changes = true;
                }
            }
        }
        let mut depths = vec![0; end + 1];
        for node in order.into_iter().filter(|node| *node != end) {
            depths[node] = passes[node].map_or(0, |next| depths[next] + 1);
        }
        Self {
            passes,
            depths,
            end,
        }
    }

    /// Where ways from these targets meet. `None` if they never do.
    pub(super) fn nearest(&self, targets: &[Target]) -> Option<Target> {
        let mut numbers = targets.iter().map(|target| match target {
            Target::Node(node) => *node,
            Target::End => self.end,
        });
        let is_led_on = |node: usize| self.passes.get(node).copied().flatten().is_some();
        let first = numbers.next().filter(|node| is_led_on(*node))?;
        let node = numbers.try_fold(first, |one, other| {
            let next = |node: usize| (self.passes[node], self.depths[node]);
            is_led_on(other).then(|| meet(one, other, next))
        })?;
        Some(match node == self.end {
            true => Target::End,
            false => Target::Node(node),
        })
    }
}

/// Where two ways meet that lead on as `next` says; what is nearer to the end has a lower number.
fn meet(mut one: usize, mut other: usize, next: impl Fn(usize) -> (Option<usize>, usize)) -> usize {
    while one != other {
        let ((after_one, of_one), (after_other, of_other)) = (next(one), next(other));
        match of_one >= of_other {
            true => one = after_one.unwrap_or(one),
            false => other = after_other.unwrap_or(other),
        }
    }
    one
}

/// The nodes from which a way leads to the end: each behind one that it leads to, the end first.
fn from_the_end(ways: &[Vec<usize>]) -> Vec<usize> {
    let end = ways.len();
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
    for (node, to) in ways.iter().enumerate() {
        to.iter().for_each(|to| back[*to].push(node));
    }
    let mut seen = vec![false; end + 1];
    seen[end] = true;
    let mut left = Vec::with_capacity(end + 1);
    let mut open = vec![(end, 0)];
    while let Some((node, tried)) = open.last_mut() {
        match back[*node].get(*tried) {
            None => {
                left.push(*node);
                open.pop();
            }
            Some(before) => {
                *tried += 1;
                if !std::mem::replace(&mut seen[*before], true) {
                    open.push((*before, 0));
                }
            }
        }
    }
    left.reverse();
    left
}
