//! Why a value of the model's does not fit, in words the model can act on.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::expected::expected;
use crate::schema::{Property, Schema, example_within};
use crate::secrets::{Secrets, mask_user_info};

/// The longest part of a model's value that is repeated to it, in characters.
const SHOWN: usize = 60;

/// The longest part of what a type says that is told, in characters.
pub(super) const LONGEST_REASON: usize = 400;

/// The longest path that is told, in characters.
const LONGEST_PATH: usize = 300;

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

    /// The value that `text` is, which its type does not read for this reason; what serde says
    /// repeats the value, or a part of it.
    pub(super) fn refused(path: impl Into<String>, text: &str, why: impl fmt::Display) -> Self {
        let path = path.into();
        let why = match is_secret(&path) {
            true => "its type does not read it".to_owned(),
            false => {
                let why = without_secrets(text, why.to_string());
                shortened(&mask_user_info(&why), LONGEST_REASON).into_owned()
            }
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
            path => write!(f, "argument `{}`", short_path(path))?,
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
        Value::Number(_) if is_secret => "a number that is not shown".to_owned(),
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

/// A type's words about a value without what stands in it under the names of secrets.
fn without_secrets(text: &str, mut why: String) -> String {
    let mut hidden = Vec::new();
    if let Ok(value) = serde_json::from_str(text) {
        gather_secrets(&value, false, &mut hidden);
    }
    for secret in hidden {
        // A short one may be a part of any word; it is masked where it is quoted.
        for quoted in [format!("{secret:?}"), format!("`{secret}`")] {
            why = why.replace(&quoted, "***");
        }
        if secret.len() >= SHORTEST_SECRET {
            why = why.replace(&secret, "***");
        }
    }
    why
}

const SHORTEST_SECRET: usize = 6;

fn gather_secrets(value: &Value, is_hidden: bool, hidden: &mut Vec<String>) {
    match value {
        Value::String(text) if is_hidden && !text.is_empty() => hidden.push(text.clone()),
        Value::Number(number) if is_hidden => hidden.push(number.to_string()),
        Value::Array(items) => {
            for item in items {
                gather_secrets(item, is_hidden, hidden);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                gather_secrets(value, is_hidden || is_secret(name), hidden);
            }
        }
        _ => {}
    }
}

/// The text, shortened so that an error stays short. Masked first: of what is cut in its
/// middle nobody can tell that it was a secret.
pub(crate) fn shown(text: &str, secrets: &Secrets) -> String {
    let text = secrets.mask(text);
    let text = mask_user_info(&text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// The path, if it is not too long to be told, else its beginning and its end.
pub(super) fn short_path(path: &str) -> Cow<'_, str> {
    shortened(path, LONGEST_PATH)
}

/// The text without its middle if it is longer than this many characters: what was expected
/// stands at the end of what serde says.
pub(super) fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= longest {
        return text.into();
    }
    let start: String = text.chars().take(longest * 2 / 3).collect();
    let end = text.chars().skip(count - longest / 3);
    format!("{start}…{}", end.collect::<String>()).into()
}
