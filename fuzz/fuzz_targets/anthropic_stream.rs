//! Any JSON as the input schema of a tool, in every anthropic_stream.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_tests::fuzz::anthropic_stream(data));
