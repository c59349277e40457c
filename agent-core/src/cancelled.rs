//! Looks at a token before there is anything to wait for.

use std::task::Poll;

use tokio_util::sync::CancellationToken;

/// Done if the token was fired; else never. Costs less than to wait for it: put it first, what
/// may be done at once behind it, and the waiting last.
pub(crate) fn already(token: &CancellationToken) -> impl Future<Output = ()> {
    std::future::poll_fn(|_| match token.is_cancelled() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
}
