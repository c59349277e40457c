//! Gathers every `#[tool]` that is linked into the program.
//!
//! Only this file knows `inventory`.
//!
//! A tool of another crate is found only if that crate is linked, and a crate that no code
//! names is not. One line names it:
//!
//! ```
//! # mod weather_tools {}
//! use weather_tools as _;
//! ```

use std::sync::Arc;

use crate::tool::{ToolCallback, ToolSet, ToolSetError};

/// One `#[tool]` of the program, as its attribute registers it.
#[derive(Debug)]
pub struct ToolRegistration {
    callback: fn() -> Arc<dyn ToolCallback>,
}

impl ToolRegistration {
    /// The registration of the tool that `callback` makes.
    #[must_use]
    pub const fn new(callback: fn() -> Arc<dyn ToolCallback>) -> Self {
        Self { callback }
    }
}

inventory::collect!(ToolRegistration);

/// Every `#[tool]` linked into the program, sorted by name.
///
/// Tools of one name are all there: a set of tools refuses them, naming both places.
/// A tool with `#[tool(register = false)]` is not there, and neither is one of a crate that
/// is not linked: see the [module](self).
#[must_use]
pub fn registered() -> Vec<Arc<dyn ToolCallback>> {
    let mut callbacks: Vec<_> = inventory::iter::<ToolRegistration>
        .into_iter()
        .map(|registration| (registration.callback)())
        .collect();
    // inventory gives no order; a stable order keeps the provider's prompt cache warm.
    callbacks.sort_by(|left, right| left.definition().name().cmp(right.definition().name()));
    callbacks
}

impl ToolSet {
    /// Every `#[tool]` linked into the program, sorted by name.
    ///
    /// A tool of another crate is there only if that crate is linked: see
    /// [`registry`](crate::registry).
    ///
    /// # Errors
    ///
    /// [`ToolSetError::Duplicate`] names both source places; [`ToolSetError::Empty`] if
    /// there is no tool at all.
    pub fn registered() -> Result<Self, ToolSetError> {
        let tools = registered();
        if tools.is_empty() {
            return Err(ToolSetError::Empty);
        }
        Self::new(tools)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // This test's binary holds no `#[tool]`; that of `tests/registry` holds some.
    #[test]
    fn a_program_without_tools_is_told_what_to_do() {
        let error = ToolSet::registered().err();

        assert!(matches!(error, Some(ToolSetError::Empty)), "{error:?}");
        let text = ToolSetError::Empty.to_string();
        assert!(text.contains("put `#[tool]` on a function"), "{text}");
        assert!(text.contains("use the_crate as _;"), "{text}");
    }
}
