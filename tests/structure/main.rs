//! structure tests.
