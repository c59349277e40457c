//! Any bytes in the middle of an event stream.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_tests::fuzz::sse(data));
