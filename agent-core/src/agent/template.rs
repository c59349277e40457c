//! The instruction template: only `{identifier}` is replaced, everything else is literal.

use serde_json::Value;

use crate::state::State;

/// Why a template cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no value for `{{{name}}}` in the state")]
#[non_exhaustive]
pub struct TemplateError {
    /// The name that has no value.
    pub name: String,
}

/// Renders `template` with the values of `state`: a string as it is, any other value as JSON.
pub(super) fn render(template: &str, state: &State) -> Result<String, TemplateError> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        text.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        match after
            .find('}')
            .map(|close| &after[..close])
            .filter(|name| is_identifier(name))
        {
            Some(name) => {
                match state.value(name) {
                    Some(Value::String(value)) => text.push_str(value),
                    Some(value) => text.push_str(&value.to_string()),
                    None => {
                        return Err(TemplateError {
                            name: name.to_owned(),
                        });
                    }
                }
                rest = &after[name.len() + 1..];
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    Ok(text)
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_')
}
