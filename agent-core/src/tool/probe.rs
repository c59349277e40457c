//! Picks the conversion of a tool's return type, on the concrete type, by auto-ref.
//!
//! Both serde and [`IntoToolOutput`] know `()`, `String` and `Result`, so no blanket impl
//! can join them. Generated code writes
//!
//! ```
//! # use agent_core::__private as P;
//! use P::convert::*;
//!
//! # let value = "text";
//! let outcome: Result<P::ToolOutcome, P::ToolError> =
//!     (&&&&&&P::Probe::of(&value)).__agent_conversion().convert(value);
//! # assert!(outcome.is_ok());
//! ```
//!
//! with its traits in scope. Method lookup tries the receiver with the most references first,
//! so the first of these that fits is taken: [`IntoToolOutput`], a `Result` whose value is
//! `Serialize`, `Serialize`. Then come those whose conversion is the error a user reads: a
//! `Result` with what is no error, and last every type, for which [`IntoToolOutput`] is asked.
//! The name of the method is one that no trait of a user has.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;

use super::{IntoToolOutput, ToolError, ToolOutcome, ToolOutput};
use crate::boxed::BoxError;

/// Stands for a return type, so that method lookup can ask about it.
pub struct Probe<T: ?Sized>(PhantomData<fn(&T)>);

impl<T> Probe<T> {
    /// The probe of this value's type.
    #[must_use]
    pub fn of(_: &T) -> Self {
        Self(PhantomData)
    }
}

impl<T: ?Sized> fmt::Debug for Probe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}

/// First choice: the type converts itself.
pub trait ConvertTool {
    /// The conversion.
    fn __agent_conversion(&self) -> ByTool {
        ByTool
    }
}

impl<T: IntoToolOutput> ConvertTool for &&&&&Probe<T> {}

/// Second choice: a `Result` whose value is written by serde.
pub trait ConvertResult {
    /// The conversion.
    fn __agent_conversion(&self) -> ByResult {
        ByResult
    }
}

impl<T: Serialize, E: Into<BoxError>> ConvertResult for &&&&Probe<Result<T, E>> {}

/// Third choice: serde writes the value.
pub trait ConvertSerialize {
    /// The conversion.
    fn __agent_conversion(&self) -> BySerialize {
        BySerialize
    }
}

impl<T: Serialize> ConvertSerialize for &&&Probe<T> {}

/// Fourth choice: a `Result` of which only the error does not fit. Its value converts itself.
pub trait ConvertNoError {
    /// The conversion.
    fn __agent_conversion(&self) -> ByNoError {
        ByNoError
    }
}

impl<T: IntoToolOutput, E> ConvertNoError for &&Probe<Result<T, E>> {}

/// As [`ConvertNoError`], for a value that serde writes.
pub trait ConvertSerializeNoError {
    /// The conversion.
    fn __agent_conversion(&self) -> ByNoError {
        ByNoError
    }
}

impl<T: Serialize, E> ConvertSerializeNoError for &Probe<Result<T, E>> {}

/// Last choice, for every type; its conversion names what is missing.
pub trait ConvertLast {
    /// The conversion.
    fn __agent_conversion(&self) -> ByTool {
        ByTool
    }
}

impl<T> ConvertLast for Probe<T> {}

/// Converts by [`IntoToolOutput`].
#[derive(Debug, Clone, Copy)]
pub struct ByTool;

impl ByTool {
    /// Converts the value.
    ///
    /// # Errors
    ///
    /// Those of the value.
    pub fn convert<T: IntoToolOutput>(self, value: T) -> Result<ToolOutcome, ToolError> {
        value.into_tool_output()
    }
}

/// Converts the value of an `Ok` by serde.
#[derive(Debug, Clone, Copy)]
pub struct ByResult;

impl ByResult {
    /// Converts the value.
    ///
    /// # Errors
    ///
    /// The `Err`, or a value serde cannot write.
    pub fn convert<T: Serialize, E: Into<BoxError>>(
        self,
        value: Result<T, E>,
    ) -> Result<ToolOutcome, ToolError> {
        BySerialize.convert(value.map_err(ToolError::failed)?)
    }
}

/// Says that the error of a `Result` is none.
#[derive(Debug, Clone, Copy)]
pub struct ByNoError;

impl ByNoError {
    /// Does not compile.
    ///
    /// # Errors
    ///
    /// None.
    pub fn convert<T, E: ErrorOfTool>(self, _: Result<T, E>) -> Result<ToolOutcome, ToolError> {
        E::outcome()
    }
}

/// Nothing has it: what is an error is chosen before.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "its error is not `Into<Box<dyn Error + Send + Sync>>`",
    note = "derive or implement `std::error::Error` for it, or write `Box<dyn Error + Send + Sync>` or `String`"
)]
pub trait ErrorOfTool {
    /// Never asked.
    ///
    /// # Errors
    ///
    /// None.
    fn outcome() -> Result<ToolOutcome, ToolError>;
}

/// Converts by serde.
#[derive(Debug, Clone, Copy)]
pub struct BySerialize;

impl BySerialize {
    /// Converts the value.
    ///
    /// # Errors
    ///
    /// A value serde cannot write.
    pub fn convert<T: Serialize>(self, value: T) -> Result<ToolOutcome, ToolError> {
        ToolOutput::json(&value).map(ToolOutcome::Done)
    }
}
