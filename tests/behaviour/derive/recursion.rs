//! Types that hold themselves.

use agent_core::{ToolDefinition, ToolSchema, tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::value;

const fn text(definition: &'static ToolDefinition) -> &'static str {
    match definition.input_schema().const_text() {
        Some(text) => text,
        None => "no constant",
    }
}

/// A part.
#[derive(Deserialize, ToolSchema)]
struct Node {
    name: String,
    children: Vec<Node>,
}

#[tool]
async fn count(root: Node) -> usize {
    1 + root
        .children
        .iter()
        .map(|node| node.name.len())
        .sum::<usize>()
}

// A7, A9, sc-09
#[test]
fn a_type_that_holds_itself_stands_once_in_the_definitions() {
    const TEXT: &str = text(count::DEFINITION);

    assert_eq!(
        TEXT,
        concat!(
            r##"{"type":"object","$defs":{"Node":{"type":"object","properties":{"name":{"type":"string"},"##,
            r##""children":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["name","children"],"##,
            r##""additionalProperties":false,"description":"A part."}},"##,
            r##""properties":{"root":{"$ref":"#/$defs/Node"}},"required":["root"],"additionalProperties":false}"##,
        )
    );
}

// A schema alone has an object at its root, as no provider takes a reference there.
#[test]
fn a_recursive_schema_alone_is_no_reference() {
    assert_eq!(
        value::<Node>(),
        json!({
            "type": "object",
            "$defs": {"Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
                "required": ["name", "children"],
                "additionalProperties": false,
                "description": "A part.",
            }},
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["name", "children"],
            "additionalProperties": false,
            "description": "A part.",
        })
    );
}

#[derive(Deserialize, ToolSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Expression {
    Number {
        value: f64,
    },
    Add {
        left: Box<Self>,
        right: Box<Expression>,
    },
    Not {
        of: Option<Box<Expression>>,
    },
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Chain<T> {
    value: T,
    next: Option<Box<Chain<T>>>,
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Sums {
    first: Expression,
    again: Option<Expression>,
    numbers: Chain<u8>,
    words: Chain<String>,
    both: Chain<Chain<String>>,
}

// A7, TS-9
#[test]
fn definitions_of_one_name_are_shared_or_renamed() {
    let schema = value::<Sums>();

    let definitions = schema["$defs"].as_object().unwrap();
    let names: Vec<&String> = definitions.keys().collect();
    assert_eq!(names, ["Expression", "Chain", "Chain_2", "Chain_3"]);
    let reference = |path: &str| schema.pointer(path).unwrap().clone();
    assert_eq!(
        reference("/$defs/Expression/anyOf/1/properties/left/$ref"),
        "#/$defs/Expression"
    );
    assert_eq!(
        reference("/$defs/Expression/anyOf/2/properties/of/anyOf/0/$ref"),
        "#/$defs/Expression"
    );
    assert_eq!(
        reference("/properties/again/anyOf/0/$ref"),
        "#/$defs/Expression"
    );
    assert_eq!(reference("/properties/numbers/$ref"), "#/$defs/Chain");
    assert_eq!(reference("/properties/words/$ref"), "#/$defs/Chain_2");
    assert_eq!(reference("/properties/both/$ref"), "#/$defs/Chain_3");
    assert_eq!(
        reference("/$defs/Chain_2/properties/next/anyOf/0/$ref"),
        "#/$defs/Chain_2"
    );
    assert_eq!(
        reference("/$defs/Chain_3/properties/value/$ref"),
        "#/$defs/Chain_2"
    );
    assert_eq!(
        reference("/$defs/Chain_3/properties/next/anyOf/0/$ref"),
        "#/$defs/Chain_3"
    );
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Tree<T> {
    branches: Vec<Tree<T>>,
    leaves: Vec<T>,
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Forest {
    tree: Tree<Forest>,
}

#[test]
fn a_reference_leads_out_of_the_definition_it_is_handed_to() {
    let schema = value::<Forest>();

    assert_eq!(
        schema.pointer("/$defs/Tree/properties/leaves/items/$ref"),
        Some(&json!("#/$defs/Forest"))
    );
    assert_eq!(
        schema.pointer("/$defs/Tree/properties/branches/items/$ref"),
        Some(&json!("#/$defs/Tree"))
    );
}

#[derive(Deserialize, ToolSchema)]
struct Folder {
    name: String,
    entries: Vec<Entry>,
}

#[derive(Deserialize, ToolSchema)]
#[serde(rename_all = "lowercase")]
enum Entry {
    File(String),
    #[serde(untagged)]
    Folder(#[param(recursive)] Box<Folder>),
}

#[derive(Deserialize, ToolSchema)]
struct Link {
    #[param(recursive)]
    back: Option<Box<Entry>>,
}

#[tool]
async fn list(folder: Folder, link: Link) -> String {
    let mut names = vec![folder.name];
    names.extend(folder.entries.into_iter().map(|entry| match entry {
        Entry::File(name) => name,
        Entry::Folder(folder) => folder.name,
    }));
    drop(link.back);
    names.join(" ")
}

// A7
#[tokio::test]
async fn types_that_hold_each_other_are_put_together_at_first_use() {
    assert_eq!(list::DEFINITION.input_schema().const_text(), None);
    let schema = list::DEFINITION.input_schema().value();
    assert_eq!(
        schema["properties"]["folder"]["properties"]["entries"]["items"]["anyOf"][1],
        json!({"$ref": "#/$defs/Box_Folder"})
    );
    assert_eq!(
        schema["$defs"]["Box_Folder"]["properties"]["entries"]["items"]["anyOf"][1],
        json!({"$ref": "#/$defs/Box_Folder"})
    );
    assert_eq!(
        schema["properties"]["link"]["properties"]["back"],
        json!({"$ref": "#/$defs/Option_Box_Entry"})
    );
    assert_eq!(
        schema["$defs"].as_object().map(serde_json::Map::len),
        Some(2)
    );
    let arguments =
        r#"{"folder":{"name":"a","entries":[{"file":"b"},{"name":"c","entries":[]}]},"link":{}}"#;
    assert_eq!(
        crate::tool_macro::told(list::callback(), arguments).await,
        "a b c"
    );
}

#[test]
fn every_reference_resolves() {
    fn check(value: &Value, definitions: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(target) = members.get("$ref").and_then(Value::as_str) {
                    let name = target.strip_prefix("#/$defs/").unwrap();
                    assert!(definitions.get(name).is_some(), "{target}");
                }
                members.values().for_each(|value| check(value, definitions));
            }
            Value::Array(items) => items.iter().for_each(|value| check(value, definitions)),
            _ => {}
        }
    }

    for schema in [
        value::<Sums>(),
        value::<Forest>(),
        list::DEFINITION.input_schema().value(),
    ] {
        check(&schema, &schema["$defs"]);
    }
}
