//! Whether this process may ask real models.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{ModelError, ModelErrorKind};

/// The variable that forbids requests from outside: any value but `0` and an empty one.
const VARIABLE: &str = "AGENT_FORBID_REQUESTS";

static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Forbids requests to real models in this process, from now on and for good: no client of this
/// crate sends one any more. What it answers is an error of kind
/// [`ModelErrorKind::RequestsForbidden`], which names the model.
///
/// Meant for the start of a test that must not cost anything. The variable
/// `AGENT_FORBID_REQUESTS=1` does the same for a whole test run; it is read once.
///
/// ```
/// agent_core::model::forbid_requests();
/// ```
pub fn forbid_requests() {
    FORBIDDEN.store(true, Ordering::Relaxed);
}

/// Checks that a request to this model may be sent.
#[allow(dead_code, reason = "only model clients use it, and they are features")]
pub(super) fn check(model: &str) -> Result<(), ModelError> {
    static BY_VARIABLE: OnceLock<bool> = OnceLock::new();
    let by_variable = BY_VARIABLE.get_or_init(|| {
        let value = std::env::var_os(VARIABLE);
        value.is_some_and(|value| !value.is_empty() && value != "0")
    });
    if *by_variable || FORBIDDEN.load(Ordering::Relaxed) {
        return Err(ModelError::new(
            ModelErrorKind::RequestsForbidden,
            format!("no request to model `{model}`: this process forbids requests to real models"),
        ));
    }
    Ok(())
}
