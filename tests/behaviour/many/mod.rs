//! Answers with very many calls: what they cost grows with them, and their number has a bound.
//!
//! The times are ten times what is needed, and far less than what it takes to look at each call
//! for each call.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod runs;

use std::time::{Duration, Instant};

/// What this gives, if it is done in time.
fn in_time<T>(most: Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let took = start.elapsed();
    assert!(took < most, "took {took:?}");
    done
}
