//! ui tests.
