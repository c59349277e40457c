//! tool_call.
