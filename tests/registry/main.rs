//! registry tests.
