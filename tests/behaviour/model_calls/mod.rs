//! Calls of the model in a run: asked again, asked elsewhere, and how its pieces become one reply.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fallback;
mod loops;
mod retry;
mod streams;

use agent_core::AgentEvent;
use agent_core::event::EventKind;

/// What a reader shows of the last reply: the pieces since the model was asked (again).
fn shown(events: &[AgentEvent]) -> String {
    let mut text = String::new();
    for event in events {
        match &event.kind {
            EventKind::TextDelta(piece) => text.push_str(piece),
            EventKind::Retried { .. } => text.clear(),
            EventKind::NodeStarted { node, .. } if &**node == "model" => text.clear(),
            _ => {}
        }
    }
    text
}

/// How often the model was asked again.
fn retries(events: &[AgentEvent]) -> usize {
    let is_retry = |event: &&AgentEvent| matches!(event.kind, EventKind::Retried { .. });
    events.iter().filter(is_retry).count()
}
