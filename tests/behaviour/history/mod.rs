//! Any history becomes a request that the provider takes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any;
mod cases;
mod logged;
mod prefix;
mod repair;
mod shared;
mod told;
