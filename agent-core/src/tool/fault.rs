//! Why a value of the model's does not fit, in words the model can act on.

use std::fmt;

use serde_json::Value;

use super::expected::expected;
use crate::schema::{Property, Schema, example_within};
use crate::secrets::{Secrets, mask_user_info};

/// The longest part of a model's value that is repeated to it, in characters.
const SHOWN: usize = 60;

/// The longest part of what a type says that is told, in characters.
const LONGEST_REASON: usize = 400;

/// What stands before an example.
pub(super) const EXAMPLE: &str = "; for example: ";

/// Longer examples are not told.
pub(super) const LONGEST_EXAMPLE: usize = 400;

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
    /// What may have been meant.
    pub(super) hint: Option<String>,
    /// JSON text that would fit.
    pub(super) example: Option<String>,
}

#[derive(Debug)]
pub(super) enum What {
    /// There is no value.
    Missing { expected: String },
    /// There is another value than expected.
    Misfit { expected: String, received: String },
    /// What a type's own reading says.
    Refused(String),
    /// There is no argument of this name.
    Unknown,
}

impl Fault {
    /// How the text of a fault begins whose argument is not named.
    pub(super) const UNNAMED: &str = "the argument does not fit its type: ";

    /// There is no value of this property.
    pub(super) fn missing(path: impl Into<String>, property: &Property) -> Self {
        let expected = expected(property.schema, property.constraints);
        Self::new(path, What::Missing { expected }).with_example(&[], property)
    }

    /// A name that stands where another was meant.
    pub(super) fn unknown(path: impl Into<String>, meant: &str) -> Self {
        Self {
            hint: Some(format!("did you mean `{meant}`?")),
            ..Self::new(path, What::Unknown)
        }
    }

    /// Adds an example of the property's values, if a short one can be made; `around` are the
    /// recursive types in which it stands.
    pub(super) fn with_example(mut self, around: &[&Schema], property: &Property) -> Self {
        let example = example_within(around, property).map(|value| value.to_string());
        self.example = example.filter(|text| text.len() <= LONGEST_EXAMPLE);
        self
    }

    /// A value that its type does not read, for this reason; what serde says repeats the value.
    pub(super) fn refused(path: impl Into<String>, why: impl fmt::Display) -> Self {
        let path = path.into();
        let why = match is_secret(&path) {
            true => "its type does not read it".to_owned(),
            false => cut(&mask_user_info(&why.to_string()), LONGEST_REASON),
        };
        Self::new(path, What::Refused(why))
    }

    pub(super) fn new(path: impl Into<String>, what: What) -> Self {
        Self {
            path: path.into(),
            what,
            is_bound: false,
            hint: None,
            example: None,
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
            What::Missing { expected } => write!(f, " is missing: expected {expected}")?,
            What::Misfit { expected, received } => write!(
                f,
                " does not fit its type: expected {expected}, got {received}"
            )?,
            What::Refused(why) => write!(f, " does not fit its type: {why}")?,
            What::Unknown => f.write_str(" is not known")?,
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        if let Some(example) = &self.example {
            write!(f, "{EXAMPLE}{example}")?;
        }
        Ok(())
    }
}

/// What came, as it may be repeated to the model and to the log: shortened, and not at all
/// where the name of its place says that it is a secret.
pub(super) fn received(path: &str, value: &Value, secrets: &Secrets) -> String {
    let is_secret = is_secret(path);
    match value {
        Value::String(_) if is_secret => "a string that is not shown".to_owned(),
        Value::Array(_) | Value::Object(_) if is_secret => "a value that is not shown".to_owned(),
        value => shown(&value.to_string(), secrets),
    }
}

fn is_secret(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
}

const SECRET_NAMES: [&str; 7] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "authorization",
];

/// The text, shortened so that an error stays short. Masked first: of what is cut in its
/// middle nobody can tell that it was a secret.
pub(crate) fn shown(text: &str, secrets: &Secrets) -> String {
    let text = secrets.mask(text);
    cut(&mask_user_info(&text), SHOWN)
}

/// At most so many characters of the text.
fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
