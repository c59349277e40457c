//! Names a model sees: what they may hold, and words made of them.

/// What is wrong with a tool's name, if anything is.
///
/// The rule is what all providers take: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`.
pub(super) fn tool_fault(name: &str) -> Option<String> {
    fault(
        name,
        |character| character == '-',
        "letters, digits, `_` and `-`",
    )
}

/// What is wrong with a property's name: as a tool's, but without `-`.
pub(super) fn property_fault(name: &str) -> Option<String> {
    fault(name, |_| false, "letters, digits and `_`")
}

fn fault(name: &str, also: fn(char) -> bool, allowed: &str) -> Option<String> {
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let length = name.chars().count();
    let Some(first) = name.chars().next() else {
        return Some("is empty".to_owned());
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
