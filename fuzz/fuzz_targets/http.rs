//! Any bytes as what a server says, from the status line on.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agent_tests::fuzz_http::http(data));
