//! Any JSON as the input schema of a tool, in every openai_stream.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_tests::fuzz::openai_stream(data));
