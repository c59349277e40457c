//! agent.
