//! When a run writes to its thread.

/// When a run writes to its thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the three moments are all there are"
)]
pub enum Durability {
    /// At once: each call that starts or ends, each node of a branch, each step. After a crash
    /// nothing is done again that was done, and what is in doubt is known.
    #[default]
    EachWrite,
    /// After each step. After a crash a step begins anew, with all its calls.
    EachStep,
    /// When the run ends, fails or pauses. After a crash the run is as if it had not been.
    AtEnd,
}
