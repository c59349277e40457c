//! Ends a run from outside, wherever its stream is read.

use tokio_util::sync::CancellationToken;

/// Cancels one run from anywhere. Cloning gives the same handle; dropping it does nothing.
///
/// ```
/// use agent_core::agent::RunHandle;
/// use agent_core::model::{ScriptedModel, scripted::says};
/// use agent_core::event::EventKind;
/// use agent_core::{Outcome, ReactAgent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = ReactAgent::builder("assistant", ScriptedModel::new([says("Hello")])).build()?;
/// let mut events = agent.run("Hi").stream();
///
/// let handle: RunHandle = events.handle();
/// std::thread::spawn(move || handle.cancel()).join().ok();
///
/// while let Some(event) = events.next().await {
///     if let EventKind::RunFinished(output) = event?.kind {
///         assert_eq!(*output.outcome(), Outcome::Cancelled);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RunHandle(CancellationToken);

impl RunHandle {
    pub(super) fn new(token: CancellationToken) -> Self {
        Self(token)
    }

    /// Cancels the run: what waits ends at once, the history is closed, and the outcome is
    /// `Cancelled`. Once the run is over it does nothing.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}
