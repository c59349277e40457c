//! Any JSON as the input schema of a tool, in every dialect.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_tests::fuzz::dialect(data));
