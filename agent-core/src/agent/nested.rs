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

impl Outer {
    /// The call of this context; `None` if it belongs to no run.
    pub(super) fn of(context: &ToolContext) -> Option<Self> {
        let (scope, call) = (scope_of(context)?, context.call()?);
        let gate = call.gate.clone().and_then(|gate| gate.downcast().ok());
        Some(Self {
            gate: gate.map_or_else(
                || Gate::new(scope.sink.clone()),
                |gate: Arc<Gate>| Gate::clone(&gate),
            ),
            deadline: call.deadline,
            span: call.span.clone(),
            scope,
        })
    }
}

/// The run of the call of this context.
pub(super) fn scope_of(context: &ToolContext) -> Option<Arc<RunScope>> {
    context.turn().scope.clone()?.downcast().ok()
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
        self.outer = Outer::of(context).map(Arc::new);
        self.outer_token = Some(context.cancellation().clone());
        self
    }
}
