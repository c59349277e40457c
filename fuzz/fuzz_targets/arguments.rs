//! Any text as the arguments of a tool call.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_tests::fuzz::arguments(data));
