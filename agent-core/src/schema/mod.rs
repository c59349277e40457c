//! JSON Schema of tool parameters, as const data.
