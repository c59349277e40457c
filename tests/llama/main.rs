//! llama tests.
