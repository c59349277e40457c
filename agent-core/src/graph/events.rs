//! The events of a run on their way to whoever reads them.
//!
//! A run goes on only when what it said was taken, so a reader that stops stops the run.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::GraphEvent;

#[derive(Default)]
pub(super) struct Events {
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<GraphEvent>,
    /// Who waits until all was taken.
    waiting: Vec<Waker>,
}

impl Events {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something, and waits until it was taken.
    pub(super) async fn emit(&self, event: GraphEvent) {
        self.queue().events.push_back(event);
        std::future::poll_fn(|context| {
            let mut queue = self.queue();
            if queue.events.is_empty() {
                return Poll::Ready(());
            }
            let waker = context.waker();
            if !queue.waiting.iter().any(|known| known.will_wake(waker)) {
                queue.waiting.push(waker.clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Takes the next event; `None` if there is none, and then the run can go on.
    pub(super) fn take(&self) -> Option<GraphEvent> {
        let mut queue = self.queue();
        let event = queue.events.pop_front();
        if queue.events.is_empty() {
            let waiting = std::mem::take(&mut queue.waiting);
            drop(queue);
            waiting.into_iter().for_each(Waker::wake);
        }
        event
    }
}
