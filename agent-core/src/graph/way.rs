//! What comes next in a line, by positions for the run and by names for the thread.

use super::branches::Parting;
use super::checkpoint::CheckpointError;
use super::checkpoint::record::Frontier;
use super::compiled::Target;
use super::{CompiledGraph, END, START};

/// What comes next in a line.
#[derive(Debug, Clone)]
pub(super) enum Way {
    To(Target),
    Branches(Parting),
}

impl Way {
    /// What a thread says comes next, in a graph that may have changed since.
    pub(super) fn of(
        graph: &CompiledGraph,
        frontier: &Frontier,
        thread: &str,
    ) -> Result<Self, CheckpointError> {
        let target = |name: &str| {
            graph
                .inner
                .target(name)
                .ok_or_else(|| CheckpointError::GraphMismatch {
                    thread: thread.to_owned(),
                    node: name.to_owned(),
                })
        };
        Ok(match frontier {
            Frontier::End => Self::To(target(END)?),
            Frontier::Node(node) => Self::To(target(node)?),
            Frontier::Branches {
                from,
                branches,
                join,
            } => {
                let from = match from.as_str() {
                    START => None,
                    from => match target(from)? {
                        Target::Node(node) => Some(node),
                        Target::End => None,
                    },
                };
                let starts = branches
                    .iter()
                    .map(|branch| Ok((target(&branch.node)?, branch.input.clone())))
                    .collect::<Result<_, CheckpointError>>()?;
                Self::Branches(Parting {
                    from,
                    starts,
                    join: target(join)?,
                })
            }
        })
    }
}
