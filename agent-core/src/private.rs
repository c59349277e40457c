//! What generated code may name. Not public API.
