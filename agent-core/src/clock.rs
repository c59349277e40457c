//! When a limit is over, and waiting for that.

use std::time::Duration;

use tokio::time::Instant;

/// As good as never, and far from where the clock's own numbers end.
const NEVER: Duration = Duration::from_secs(86_400 * 365 * 30);

/// The moment that lies `limit` behind `start`; a limit of many years is none.
pub(crate) fn after(start: Instant, limit: Duration) -> Instant {
    start + limit.min(NEVER)
}

/// Waits for a moment; for ever if there is none.
pub(crate) async fn reached(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
