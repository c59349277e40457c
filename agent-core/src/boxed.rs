//! The boxed types of object-safe async code, and what a boxed error says.

use std::error::Error;
use std::iter::successors;
use std::pin::Pin;

use futures_core::Stream;

/// An error of any type that can cross threads.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// How many errors of a chain are looked at; one may name itself as its cause.
const MOST_CAUSES: usize = 64;

/// An error and its causes.
pub(crate) fn causes<'a>(
    first: Option<&'a (dyn Error + 'static)>,
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(first, |&error| error.source()).take(MOST_CAUSES)
}

/// What an error and its causes say, in one line.
pub(crate) fn told(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    for cause in causes(error.source()) {
        // Some tell their source themselves.
        let why = cause.to_string();
        if !text.ends_with(&why) {
            text = format!("{text}: {why}");
        }
    }
    text
}

/// Owned future of an object-safe async method.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Owned stream of an object-safe method.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;
