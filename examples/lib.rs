//! Examples of agent-core, each one file.
