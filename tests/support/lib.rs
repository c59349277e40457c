//! What the tests share.

pub mod fixtures;
pub mod fuzz;
pub mod fuzz_http;
pub mod replay;
pub mod runs;
pub mod saver;
pub mod tools;
pub mod validator;
pub mod values;
pub mod wire;

/// The README's programs, run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[derive(Debug)]
pub struct Readme;
