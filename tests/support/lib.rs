//! What the tests share.

pub mod fixtures;
pub mod replay;
