//! What `tools![]` says of a type that `#[tool]` did not make of a function.

use std::sync::Arc;

use super::ToolCallback;

/// A type that `#[tool]` made of a function. None has this trait: what those have is found before.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made of a function by `#[tool]`",
    label = "no function's tool",
    note = "`tools![f]` takes the names of functions with `#[tool]`; an object with a `#[tool] impl` block and every other tool is passed as it is: `.tools(object)`"
)]
pub trait MadeOfAFunction {
    /// The tool.
    fn made() -> Arc<dyn ToolCallback>;
}

/// What method lookup finds last.
pub trait NotOfAFunction {
    /// The tool.
    #[must_use]
    fn callback() -> Arc<dyn ToolCallback>
    where
        Self: MadeOfAFunction,
    {
        Self::made()
    }
}

impl<T: ?Sized> NotOfAFunction for T {}
