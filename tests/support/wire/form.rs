//! Whether a case has the form of one: what is of another type would be read over, and a case that
//! checks nothing passes.

use serde_json::Value;

type Is = fn(&Value) -> bool;

const OF_CASE: [(&str, Is, &str); 8] = [
    ("/stream", Value::is_boolean, "true or false"),
    ("/http", Value::is_object, "an object"),
    ("/http/status", Value::is_u64, "a number"),
    ("/http/headers", Value::is_object, "an object"),
    ("/transport", Value::is_object, "an object"),
    ("/transport/end", Value::is_string, "a text"),
    ("/given", Value::is_object, "an object"),
    ("/also_acceptable", is_list_of_objects, "a list of objects"),
];

const OF_RESULT: [(&str, Is, &str); 8] = [
    ("/text", Value::is_string, "a text"),
    ("/reasoning", Value::is_string, "a text"),
    ("/finish_reason", Value::is_string, "a text"),
    ("/tool_calls", is_list_of_objects, "a list of objects"),
    ("/content_blocks", is_list_of_objects, "a list of objects"),
    ("/usage", Value::is_object, "an object"),
    ("/error", Value::is_object, "an object"),
    ("/partial", Value::is_object, "an object"),
];

/// What is of a wrong type, if anything is; `null` is as good as absent.
pub(super) fn check(case: &Value) -> Result<(), String> {
    of(case, "", &OF_CASE)?;
    of(&case["expect"], "/expect", &OF_RESULT)?;
    let others = case["also_acceptable"].as_array();
    others
        .into_iter()
        .flatten()
        .try_for_each(|other| of(other, "/also_acceptable", &OF_RESULT))
}

fn of(value: &Value, place: &str, types: &[(&str, Is, &str)]) -> Result<(), String> {
    let wrong = types.iter().find(|(key, is, _)| {
        let value = value.pointer(key).filter(|value| !value.is_null());
        value.is_some_and(|value| !is(value))
    });
    match wrong {
        None => Ok(()),
        Some((key, _, what)) => {
            let name = format!("{place}{key}").replace('/', ".");
            Err(format!("`{}` is not {what}", &name[1..]))
        }
    }
}

fn is_list_of_objects(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.iter().all(Value::is_object))
}
