//! Parameters that are references: what is read in their place, and how it is lent.
//!
//! Not `ToOwned`: of a type with a size that asks for `Clone`, which nothing here needs.

use std::path::{Path, PathBuf};

/// What a parameter `&Self` is read as, and lent from.
#[diagnostic::on_unimplemented(
    message = "no owned form of `{Self}` is known, so `&{Self}` cannot be a parameter of a tool",
    label = "not read and lent",
    note = "a tool takes `&str`, `&[T]`, `&Path` and `&T` of any `T` with a size; take this one by value"
)]
pub trait TakenByReference {
    /// What is read.
    type Owned;

    /// The reference for the function.
    fn lend(owned: &Self::Owned) -> &Self;
}

impl<T> TakenByReference for T {
    type Owned = T;

    fn lend(owned: &T) -> &T {
        owned
    }
}

impl<T> TakenByReference for [T] {
    type Owned = Vec<T>;

    fn lend(owned: &Vec<T>) -> &[T] {
        owned
    }
}

impl TakenByReference for str {
    type Owned = String;

    fn lend(owned: &String) -> &str {
        owned
    }
}

impl TakenByReference for Path {
    type Owned = PathBuf;

    fn lend(owned: &PathBuf) -> &Path {
        owned
    }
}
