//! What a keyword says, in words for the model.

use serde_json::{Map, Value};

/// The longest rule that is told as JSON, in characters.
const SHOWN: usize = 200;

/// What a keyword says, for a description; `None` if it says nothing.
pub(super) fn words(keyword: &str, value: &Value) -> Option<String> {
    let count = |one: &str, many: &str| {
        let what = if value.as_u64() == Some(1) { one } else { many };
        format!("{value} {what}")
    };
    Some(match keyword {
        "default" => format!("default {value}"),
        "examples" => match value.as_array()?.as_slice() {
            [] => return None,
            examples => format!("for example {}", list(examples)),
        },
        "enum" => format!("one of {}", list(value.as_array()?)),
        "const" => format!("always {value}"),
        "format" => format!("format {}", value.as_str()?),
        "pattern" => format!("must match the regular expression {}", value.as_str()?),
        "minimum" => format!("at least {value}"),
        "maximum" => format!("at most {value}"),
        "exclusiveMinimum" => format!("greater than {value}"),
        "exclusiveMaximum" => format!("less than {value}"),
        "multipleOf" => format!("a multiple of {value}"),
        "minLength" => format!("at least {}", count("character", "characters")),
        "maxLength" => format!("at most {}", count("character", "characters")),
        "minItems" => format!("at least {}", count("item", "items")),
        "maxItems" => format!("at most {}", count("item", "items")),
        "minProperties" => format!("at least {}", count("key", "keys")),
        "maxProperties" => format!("at most {}", count("key", "keys")),
        "uniqueItems" if value == &Value::Bool(true) => "no item twice".to_owned(),
        "uniqueItems" => return None,
        "prefixItems" => format!("the items in order: {}", schemas(value)),
        "additionalProperties" => match value {
            Value::Bool(_) => return None,
            Value::Object(rules) if rules.is_empty() => "any keys".to_owned(),
            value => format!("any keys, each value: {}", shown(value)),
        },
        keyword => format!("must fit {}", shown(&rule(keyword, value))),
    })
}

/// Adds the words to the description, which is made if there is none.
pub(super) fn tell(schema: &mut Map<String, Value>, words: &[String]) {
    if words.is_empty() {
        return;
    }
    let told = format!("({})", words.join("; "));
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(text) if !text.is_empty() => format!("{text} {told}"),
        _ => told,
    };
    schema.insert("description".to_owned(), text.into());
}

fn list(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    shorten(&values.join(", "))
}

fn schemas(value: &Value) -> String {
    list(value.as_array().map_or(&[], Vec::as_slice))
}

fn rule(keyword: &str, value: &Value) -> Value {
    Map::from_iter([(keyword.to_owned(), value.clone())]).into()
}

fn shown(value: &Value) -> String {
    shorten(&value.to_string())
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
