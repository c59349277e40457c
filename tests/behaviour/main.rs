//! What the crates do, seen from outside.

mod api;
mod augment;
mod cancellation;
mod derive;
mod function_tool;
mod fuzz;
mod graph;
mod hooks;
mod interceptors;
mod nested;
mod openai;
mod react_agent;
mod resolver;
mod schema;
mod state;
mod tool_call;
mod tool_macro;
mod tool_set;
mod transcript;
mod turns;
