//! An example of what stands at one place of a value, by a schema known only at run time.

use serde_json::Value;

use super::accepts::accepts;
use super::example::example_of_value;

/// A value that the schema takes at this place, a JSON pointer into what it describes. `None` if
/// the place lies in a choice, or if the schema says more or less than is understood here.
pub(crate) fn example_at(root: &Value, pointer: &str) -> Option<Value> {
    let mut schema = root;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        schema = inside(resolved(root, schema)?, &step)?;
    }
    let mut alone = schema.clone();
    if let (Some(members), Some(definitions)) = (alone.as_object_mut(), root.get("$defs")) {
        members.insert("$defs".to_owned(), definitions.clone());
    }
    let value = example_of_value(&alone)?;
    // Null is also what is made where the schema says no type.
    (!value.is_null() && accepts(&alone, &value) == Some(true)).then_some(value)
}

fn resolved<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => root.pointer(reference.strip_prefix('#')?),
        None => Some(schema),
    }
}

/// The schema of the member or the item of this name.
fn inside<'a>(schema: &'a Value, step: &str) -> Option<&'a Value> {
    let index = step.parse::<usize>().ok();
    let place = || schema.get("prefixItems")?.get(index?);
    let item = || index.and(schema.get("items"));
    let property = schema.get("properties").and_then(|it| it.get(step));
    let other = || schema.get("additionalProperties");
    property.or_else(place).or_else(item).or_else(other)
}
