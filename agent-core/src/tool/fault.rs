//! Why a value of the model's does not fit, in words the model can act on.

use std::fmt;

/// The longest part of a model's value that is repeated to it, in characters.
const SHOWN: usize = 60;

/// One place of a call's arguments that does not fit.
///
/// Its text is one line: where, what was expected, what came.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Where, as `items[2].city`; empty if the one who shows it knows.
    pub(super) path: String,
    pub(super) what: What,
    /// True if the value is of its type, and a constraint refuses it.
    pub(super) is_bound: bool,
}

#[derive(Debug)]
pub(super) enum What {
    /// There is no value.
    Missing,
    /// There is another value than expected.
    Misfit { expected: String, received: String },
    /// What a type's own reading says.
    Refused(String),
}

impl Fault {
    /// How the text of a fault begins whose argument is not named.
    pub(super) const UNNAMED: &str = "the argument does not fit its type: ";

    pub(super) fn missing(path: impl Into<String>) -> Self {
        Self::new(path, What::Missing)
    }

    pub(super) fn refused(path: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::new(path, What::Refused(why.to_string()))
    }

    pub(super) fn new(path: impl Into<String>, what: What) -> Self {
        Self {
            path: path.into(),
            what,
            is_bound: false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The properties of a whole input have no argument before them.
        match self.path.strip_prefix('.').unwrap_or(&self.path) {
            "" => f.write_str("the argument")?,
            path => write!(f, "argument `{path}`")?,
        }
        match &self.what {
            What::Missing => f.write_str(" is missing"),
            What::Misfit { expected, received } => write!(
                f,
                " does not fit its type: expected {expected}, got {received}"
            ),
            What::Refused(why) => write!(f, " does not fit its type: {why}"),
        }
    }
}

/// The text, shortened so that an error stays short.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
