//! cancellation.
