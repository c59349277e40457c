//! A run inside a tool call of another: what it takes over from there.

use std::sync::Arc;

use tokio::time::Instant;

use super::run::RunRequest;
use super::scope::RunScope;
use crate::event::Gate;
use crate::tool::ToolContext;

/// The call in which a run goes on.
pub(super) struct Outer {
    pub(super) scope: Arc<RunScope>,
    pub(super) gate: Gate,
    pub(super) deadline: Instant,
    /// The call's span.
    pub(super) span: tracing::Span,
}

impl RunRequest {
    /// Makes this a run inside a tool call of another run.
    ///
    /// It is cancelled with the call and over with its time; its model calls, tool calls and
    /// usage count for the outer run too, whose limits hold as well; its events are told by the
    /// outer run's stream; host values and metadata of the outer run are there where this one
    /// has none of its own, and what the outer agent keeps secret is masked here too. A [`cancel_token`](Self::cancel_token) comes on top.
    ///
    /// With a context that belongs to no run, as in a test, only its token counts.
    pub fn within(mut self, context: &ToolContext) -> Self {
        self.outer = context
            .outer()
            .and_then(|outer| outer.downcast::<Outer>().ok());
        self.outer_token = Some(context.cancellation().clone());
        self
    }
}
