//! The connections that wait for their next request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{self, Handle};
use tokio::time::Instant;

use super::io::{Io, receive};

/// How long a connection waits. llama.cpp, Node and uvicorn close one that is idle for 5 s; a
/// request sent just then would be lost, so ours is let go first.
const IDLE: Duration = Duration::from_secs(4);

/// The idle connections to one server.
#[derive(Default)]
pub(super) struct Pool {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The one that waits longest comes first.
    idle: Vec<Idle>,
    /// The runtimes in which somebody lets go of what waited too long.
    tended: Vec<runtime::Id>,
}

struct Idle {
    io: Box<dyn Io>,
    /// The one it lives in: no other can drive it.
    runtime: runtime::Id,
    since: Instant,
}

impl Pool {
    /// The connection of this runtime that was used last.
    pub(super) fn take(&self, runtime: runtime::Id) -> Option<Box<dyn Io>> {
        loop {
            let mut idle = {
                let idle = &mut self.kept().idle;
                let own = idle.iter().rposition(|idle| idle.runtime == runtime)?;
                idle.remove(own)
            };
            if idle.since.elapsed() < IDLE && is_silent(&mut *idle.io) {
                return Some(idle.io);
            }
        }
    }

    /// Keeps a connection that nothing is sent or expected on.
    pub(super) fn put(self: &Arc<Self>, io: Box<dyn Io>) {
        let Ok(handle) = Handle::try_current() else {
            return;
        };
        let (runtime, since) = (handle.id(), Instant::now());
        let mut kept = self.kept();
        kept.idle.push(Idle { io, runtime, since });
        if !kept.tended.contains(&runtime) {
            kept.tended.push(runtime);
            drop(kept);
            let tending = Tending {
                pool: Arc::downgrade(self),
                runtime,
                is_over: false,
            };
            handle.spawn(tending.run());
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if the server neither closed the connection nor said what nobody asked for.
fn is_silent(io: &mut dyn Io) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    matches!(receive(io, &mut cx, &mut Vec::new()), Poll::Pending)
}

/// Lets connections go that waited too long, until none of its runtime is left.
struct Tending {
    pool: Weak<Pool>,
    runtime: runtime::Id,
    is_over: bool,
}

impl Tending {
    async fn run(mut self) {
        while let Some(end) = self.next_end() {
            tokio::time::sleep_until(end).await;
        }
        self.is_over = true;
    }

    /// When the next connection will have waited too long; those that did are let go.
    fn next_end(&self) -> Option<Instant> {
        let pool = self.pool.upgrade()?;
        let gone: Vec<Idle>;
        let next = {
            let mut kept = pool.kept();
            let is_over =
                |idle: &mut Idle| idle.runtime == self.runtime && idle.since.elapsed() >= IDLE;
            gone = kept.idle.extract_if(.., is_over).collect();
            let next = kept.idle.iter().find(|idle| idle.runtime == self.runtime);
            let next = next.map(|idle| idle.since + IDLE);
            if next.is_none() {
                kept.tended.retain(|runtime| *runtime != self.runtime);
            }
            next
        };
        // Closing a connection may take a moment.
        drop(gone);
        next
    }
}

impl Drop for Tending {
    fn drop(&mut self) {
        // The runtime ended, and without it its connections are of no use.
        if let Some(pool) = self.pool.upgrade().filter(|_| !self.is_over) {
            let is_own = |idle: &mut Idle| idle.runtime == self.runtime;
            let mut kept = pool.kept();
            kept.tended.retain(|runtime| *runtime != self.runtime);
            let gone: Vec<Idle> = kept.idle.extract_if(.., is_own).collect();
            // Closing a connection may take a moment.
            drop(kept);
            drop(gone);
        }
    }
}
