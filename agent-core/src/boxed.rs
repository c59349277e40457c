//! The boxed types of object-safe async code.

use std::pin::Pin;

use futures_core::Stream;

/// An error of any type that can cross threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Owned future of an object-safe async method.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Owned stream of an object-safe method.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;
