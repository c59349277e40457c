//! Names a model sees: what they may hold, and words made of them.

use darling::util::SpannedValue;

use crate::diagnostics::err;

/// Refuses what is no name of a tool.
///
/// The rule is what all providers take: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`.
pub(super) fn tool(name: &SpannedValue<String>) -> darling::Result<()> {
    match tool_fault(name) {
        Some(fault) => Err(err!(name.span(), "tool name `{}` {fault}", **name)),
        None => Ok(()),
    }
}

/// Refuses what is no name of a parameter: as a tool's, but without `-`.
pub(super) fn parameter(name: &SpannedValue<String>) -> darling::Result<()> {
    match property_fault(name) {
        Some(fault) => Err(err!(name.span(), "parameter name `{}` {fault}", **name)),
        None => Ok(()),
    }
}

pub(super) fn tool_fault(name: &str) -> Option<String> {
    fault(
        name,
        |character| character == '-',
        "letters, digits, `_` and `-`",
    )
}

pub(super) fn property_fault(name: &str) -> Option<String> {
    fault(name, |_| false, "letters, digits and `_`")
}

fn fault(name: &str, also: fn(char) -> bool, allowed: &str) -> Option<String> {
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let length = name.chars().count();
    let Some(first) = name.chars().next() else {
        return Some("is empty; it needs 1 to 64 characters".to_owned());
    };
    if let Some(wrong) = name.chars().find(|&c| !plain(c) && !also(c)) {
        return Some(format!("holds `{wrong}`; it may hold ASCII {allowed}"));
    }
    if !first.is_ascii_alphabetic() && first != '_' {
        return Some(format!(
            "starts with `{first}`; it may start with an ASCII letter or `_`"
        ));
    }
    (length > 64).then(|| format!("is {length} characters long; it may have 64"))
}

/// `get_weather` and `getWeather` as `get weather`.
pub(super) fn words(name: &str) -> String {
    let mut words = String::new();
    let mut after_lower = false;
    for character in name.chars() {
        if character == '_' || (character.is_uppercase() && after_lower) {
            words.push(' ');
        }
        if character != '_' {
            words.extend(character.to_lowercase());
        }
        after_lower = character.is_lowercase() || character.is_ascii_digit();
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
