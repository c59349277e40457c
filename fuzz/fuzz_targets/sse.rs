//! Any JSON as the input schema of a tool, in every sse.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_tests::fuzz::sse(data));
