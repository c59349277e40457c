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
    if let Some((_, owner)) = RESERVED.iter().find(|(reserved, _)| *reserved == name) {
        return Some(format!(
            "is kept by {owner} for a tool of its own, and refused; take another, such as `run_{name}`"
        ));
    }
    fault(
        name,
        |character| character == '-',
        "letters, digits, `_` and `-`",
    )
}

/// Names that fit the rule and are answered with 400 all the same: by whom.
///
/// Source: "The function name 'python' is reserved for use by this model", as the Responses API
/// says. Names that one gateway keeps (`search`, `web_search`) are good ones elsewhere.
const RESERVED: [(&str, &str); 1] = [("python", "OpenAI")];

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

/// What a type of this name would hide from the module it stands in, and from generated code.
pub(super) fn hidden_by(type_name: &str) -> Option<&'static str> {
    if PRIMITIVES.contains(&type_name) {
        return Some("type");
    }
    CRATES.contains(&type_name).then_some("crate")
}

const PRIMITIVES: [&str; 17] = [
    "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
    "i128", "isize", "f32", "f64",
];

/// Those that a module with tools nearly always names.
const CRATES: [&str; 8] = [
    "std",
    "core",
    "alloc",
    "agent_core",
    "serde",
    "serde_json",
    "schemars",
    "tokio",
];

/// `get_weather` as `GetWeather`.
pub(super) fn camel_case(name: &str) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    };
    words(name).split(' ').map(capitalised).collect()
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
