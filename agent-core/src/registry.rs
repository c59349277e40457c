//! Gathers every `#[tool]` that is linked into the program.
