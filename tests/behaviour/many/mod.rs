//! Answers with very many calls, and very many messages: what they cost grows with them, and the number
//! of calls has a bound.
//!
//! The times are several times what is needed, and far less than what it takes to look at each call
//! for each call. They are those of the thread alone, so that a busy machine fails no test.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod neighbours;
mod pauses;
mod runs;

use std::time::{Duration, Instant};

/// What this gives, if it is done in time.
fn in_time<T>(most: Duration, work: impl FnOnce() -> T) -> T {
    let (start, start_of_thread) = (Instant::now(), of_thread());
    let done = work();
    let took = match (start_of_thread, of_thread()) {
        (Some(start), Some(end)) => end.saturating_sub(start),
        _ => start.elapsed(),
    };
    assert!(took < most, "took {took:?}");
    done
}

/// How long this thread has run, where the system tells (Linux).
fn of_thread() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = stat.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos)).filter(|time| !time.is_zero())
}
