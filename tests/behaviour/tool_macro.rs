//! tool_macro.
