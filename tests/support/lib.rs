//! What the tests share.

pub mod fixtures;
pub mod replay;
pub mod runs;
pub mod tools;
