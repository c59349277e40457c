//! The macros of `agent-core`. Their user documentation stands on the re-exports there.
