//! How each form of a schema is written in each dialect, and what is said about it.

use agent_core::schema::{Change, ChangeEffect, Dialect};
use expect_test::expect;
use serde_json::{Value, json};

/// The schema of the one property of an input, in these dialects, a line for each.
fn property(dialects: &[Dialect], schema: &Value) -> String {
    let mut definitions = json!({"Point": {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": false,
    }});
    if schema["$ref"] == "#/$defs/Tree" {
        definitions["Tree"] = json!({
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
            "required": ["children"],
            "additionalProperties": false,
        });
    }
    let input = json!({
        "type": "object",
        "$defs": definitions,
        "properties": {"p": schema},
        "required": ["p"],
        "additionalProperties": false,
    });
    let line = |dialect: &Dialect| {
        let written = dialect.translate(&input);
        let strict = if dialect.is_strict() && !written.strict {
            " (not strict)"
        } else {
            ""
        };
        format!("{dialect}{strict}: {}\n", written.schema["properties"]["p"])
    };
    dialects.iter().map(line).collect()
}

const ALL: [Dialect; 5] = [
    Dialect::OpenAi,
    Dialect::OpenAiStrict,
    Dialect::AnthropicStrict,
    Dialect::Gemini,
    Dialect::UpperCase,
];

/// The changes that are more than another way to say the same.
fn changes(dialect: Dialect, input: &Value) -> Vec<Change> {
    let mut changes = dialect.translate(input).changes;
    changes.retain(|change| change.effect != ChangeEffect::Same);
    changes
}

#[test]
fn null_beside_a_type() {
    expect![[r#"
        openai: {"type":["string","null"],"enum":["a",null]}
        openai-strict: {"type":["string","null"],"enum":["a",null]}
        anthropic-strict: {"type":["string","null"],"enum":["a",null]}
        gemini: {"type":"string","enum":["a"],"nullable":true}
        upper-case: {"type":"STRING","enum":["a"],"nullable":true}
    "#]]
    .assert_eq(&property(
        &ALL,
        &json!({"type": ["string", "null"], "enum": ["a", null]}),
    ));
}

#[test]
fn several_types() {
    expect![[r#"
        openai: {"type":["string","integer","null"],"maximum":3,"description":"An id."}
        openai-strict: {"type":["string","integer","null"],"maximum":3,"description":"An id."}
        anthropic-strict: {"type":["string","integer","null"],"description":"An id. (at most 3)"}
        gemini: {"anyOf":[{"type":"string","description":"An id.","nullable":true},{"type":"integer","maximum":3,"description":"An id.","nullable":true}]}
        upper-case: {"anyOf":[{"type":"STRING","description":"An id.","nullable":true},{"type":"INTEGER","maximum":3,"description":"An id.","nullable":true}]}
    "#]].assert_eq(&property(
        &ALL,
        &json!({"type": ["string", "integer", "null"], "maximum": 3, "description": "An id."}),
    ));
}

#[test]
fn null_in_a_union() {
    let schema =
        json!({"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "description": "Where."});
    expect![[r##"
        openai: {"anyOf":[{"$ref":"#/$defs/Point"},{"type":"null"}],"description":"Where."}
        openai-strict: {"anyOf":[{"$ref":"#/$defs/Point"},{"type":"null"}],"description":"Where."}
        anthropic-strict: {"anyOf":[{"$ref":"#/$defs/Point"},{"type":"null"}],"description":"Where."}
        gemini: {"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"description":"Where.","nullable":true}
        upper-case: {"type":"OBJECT","properties":{"x":{"type":"INTEGER"}},"required":["x"],"description":"Where.","nullable":true}
    "##]].assert_eq(&property(&ALL, &schema));
}

#[test]
fn a_reference_with_a_description() {
    expect![[r##"
        openai: {"$ref":"#/$defs/Point","description":"Where."}
        openai-strict: {"anyOf":[{"$ref":"#/$defs/Point"}],"description":"Where."}
        anthropic-strict: {"$ref":"#/$defs/Point","description":"Where."}
        gemini: {"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"description":"Where."}
        upper-case: {"type":"OBJECT","properties":{"x":{"type":"INTEGER"}},"required":["x"],"description":"Where."}
    "##]].assert_eq(&property(
        &ALL,
        &json!({"$ref": "#/$defs/Point", "description": "Where."}),
    ));
}

#[test]
fn a_reference_that_leads_back_to_itself() {
    expect![[r##"
        openai: {"$ref":"#/$defs/Tree"}
        openai-strict: {"$ref":"#/$defs/Tree"}
        anthropic-strict (not strict): {"$ref":"#/$defs/Tree"}
        gemini: {"type":"object","properties":{"children":{"type":"array","items":{"type":"object","description":"(again a Tree, as above)"}}},"required":["children"]}
        upper-case: {"type":"OBJECT","properties":{"children":{"type":"ARRAY","items":{"type":"OBJECT","description":"(again a Tree, as above)"}}},"required":["children"]}
    "##]].assert_eq(&property(&ALL, &json!({"$ref": "#/$defs/Tree"})));
}

#[test]
fn pieces_of_one_object() {
    let schema = json!({"allOf": [
        {"$ref": "#/$defs/Point"},
        {"type": "object", "properties": {"y": {"type": "integer", "minimum": 1}, "x": {"minimum": 2}}, "required": ["y"]},
    ]});
    expect![[r##"
        openai: {"allOf":[{"$ref":"#/$defs/Point"},{"type":"object","properties":{"y":{"type":"integer","minimum":1},"x":{"minimum":2}},"required":["y"]}]}
        openai-strict: {"type":"object","properties":{"x":{"type":"integer","minimum":2},"y":{"type":"integer","minimum":1}},"required":["x","y"],"additionalProperties":false}
        anthropic-strict: {"type":"object","properties":{"x":{"type":"integer","description":"(at least 2)"},"y":{"type":"integer","description":"(at least 1)"}},"required":["x","y"],"additionalProperties":false}
        gemini: {"type":"object","properties":{"x":{"type":"integer","minimum":2},"y":{"type":"integer","minimum":1}},"required":["x","y"]}
        upper-case: {"type":"OBJECT","properties":{"x":{"type":"INTEGER","minimum":2},"y":{"type":"INTEGER","minimum":1}},"required":["x","y"]}
    "##]].assert_eq(&property(&ALL, &schema));
}

#[test]
fn one_of_several_objects() {
    let schema = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
        {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
    ]});
    expect![[r#"
        openai: {"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["kind","n"]},{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]}]}
        openai-strict: {"anyOf":[{"type":"object","properties":{"kind":{"type":"string","const":"a"},"n":{"type":"integer"}},"required":["kind","n"],"additionalProperties":false},{"type":"object","properties":{"kind":{"type":"string","const":"b"}},"required":["kind"],"additionalProperties":false}]}
        anthropic-strict: {"anyOf":[{"type":"object","properties":{"kind":{"type":"string","const":"a"},"n":{"type":"integer"}},"required":["kind","n"],"additionalProperties":false},{"type":"object","properties":{"kind":{"type":"string","const":"b"}},"required":["kind"],"additionalProperties":false}]}
        gemini: {"anyOf":[{"type":"object","properties":{"kind":{"type":"string","enum":["a"]},"n":{"type":"integer"}},"required":["kind","n"]},{"type":"object","properties":{"kind":{"type":"string","enum":["b"]}},"required":["kind"]}]}
        upper-case: {"anyOf":[{"type":"OBJECT","properties":{"kind":{"type":"STRING","enum":["a"]},"n":{"type":"INTEGER"}},"required":["kind","n"]},{"type":"OBJECT","properties":{"kind":{"type":"STRING","enum":["b"]}},"required":["kind"]}]}
    "#]].assert_eq(&property(&ALL, &schema));
}

#[test]
fn objects_that_begin_alike_cannot_be_strict_for_openai() {
    let schema = json!({"anyOf": [
        {"type": "object", "properties": {"name": {"type": "string"}, "a": {"type": "integer"}}, "required": ["name", "a"]},
        {"type": "object", "properties": {"name": {"type": "string"}, "b": {"type": "integer"}}, "required": ["name", "b"]},
    ]});
    let input = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});

    assert!(!Dialect::OpenAiStrict.translate(&input).strict);
    assert!(Dialect::AnthropicStrict.translate(&input).strict);
    let change = &changes(Dialect::OpenAiStrict, &input)[0];
    assert_eq!(change.pointer, "/properties/p");
    assert_eq!(
        change.why,
        "two objects of it begin with the same property `name`"
    );
}

#[test]
fn rules_of_text() {
    let schema = json!({
        "type": "string", "description": "A name.", "minLength": 1, "maxLength": 9,
        "pattern": "^a+$", "format": "ip", "default": "a",
    });
    let dialects = [ALL.as_slice(), &[Dialect::Mistral]].concat();
    expect![[r#"
        openai: {"type":"string","description":"A name.","minLength":1,"maxLength":9,"pattern":"^a+$","format":"ip","default":"a"}
        openai-strict: {"type":"string","description":"A name. (at least 1 character; at most 9 characters; format ip; default \"a\")","pattern":"^a+$"}
        anthropic-strict: {"type":"string","description":"A name. (at least 1 character; at most 9 characters; format ip)","pattern":"^a+$","default":"a"}
        gemini: {"type":"string","description":"A name. (format ip)","minLength":1,"maxLength":9,"pattern":"^a+$","default":"a"}
        upper-case: {"type":"STRING","description":"A name. (format ip)","minLength":1,"maxLength":9,"pattern":"^a+$","default":"a"}
        mistral: {"type":"string","description":"A name. (at least 1 character; at most 9 characters; must match the regular expression ^a+$; format ip)","default":"a"}
    "#]].assert_eq(&property(&dialects, &schema));
}

#[test]
fn patterns_that_only_some_engines_know_are_told_where_the_provider_compiles_them() {
    expect![[r#"
        openai: {"type":"string","pattern":"^(?=a)b$"}
        openai-strict: {"type":"string","description":"(must match the regular expression ^(?=a)b$)"}
        anthropic-strict: {"type":"string","description":"(must match the regular expression ^(?=a)b$)"}
        gemini: {"type":"string","pattern":"^(?=a)b$"}
        upper-case: {"type":"STRING","pattern":"^(?=a)b$"}
    "#]].assert_eq(&property(
        &ALL,
        &json!({"type": "string", "pattern": "^(?=a)b$"}),
    ));
}

#[test]
fn rules_of_numbers() {
    expect![[r#"
        openai: {"type":"number","minimum":1,"exclusiveMaximum":9,"multipleOf":0.5}
        openai-strict: {"type":"number","minimum":1,"exclusiveMaximum":9,"multipleOf":0.5}
        anthropic-strict: {"type":"number","description":"(at least 1; less than 9; a multiple of 0.5)"}
        gemini: {"type":"number","minimum":1,"description":"(less than 9; a multiple of 0.5)"}
        upper-case: {"type":"NUMBER","minimum":1,"description":"(less than 9; a multiple of 0.5)"}
    "#]].assert_eq(&property(
        &ALL,
        &json!({"type": "number", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 0.5}),
    ));
}

#[test]
fn rules_of_lists() {
    expect![[r#"
        openai: {"type":"array","items":{"type":"string"},"minItems":2,"maxItems":3,"uniqueItems":true}
        openai-strict: {"type":"array","items":{"type":"string"},"minItems":2,"maxItems":3,"description":"(no item twice)"}
        anthropic-strict: {"type":"array","items":{"type":"string"},"description":"(at least 2 items; at most 3 items; no item twice)"}
        gemini: {"type":"array","items":{"type":"string"},"minItems":2,"maxItems":3,"description":"(no item twice)"}
        upper-case: {"type":"ARRAY","items":{"type":"STRING"},"minItems":2,"maxItems":3,"description":"(no item twice)"}
    "#]].assert_eq(&property(
        &ALL,
        &json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3, "uniqueItems": true}),
    ));
}

#[test]
fn enums_of_other_values_than_text() {
    expect![[r#"
        openai: {"enum":[1,2,null]}
        openai-strict: {"type":["integer","null"],"enum":[1,2,null]}
        anthropic-strict: {"type":["integer","null"],"enum":[1,2,null]}
        gemini: {"type":"integer","nullable":true,"description":"(one of 1, 2, null)"}
        upper-case: {"type":"INTEGER","nullable":true,"description":"(one of 1, 2, null)"}
    "#]]
    .assert_eq(&property(&ALL, &json!({"enum": [1, 2, null]})));
}

#[test]
fn tuples_of_several_types() {
    expect![[r#"
        openai: {"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2,"maxItems":2}
        openai-strict (not strict): {"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2,"maxItems":2}
        anthropic-strict (not strict): {"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2,"maxItems":2}
        gemini: {"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]},"minItems":2,"maxItems":2,"description":"(the items in order: {\"type\":\"string\"}, {\"type\":\"integer\"})"}
        upper-case: {"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]},"minItems":2,"maxItems":2,"description":"(the items in order: {\"type\":\"string\"}, {\"type\":\"integer\"})"}
    "#]].assert_eq(&property(
        &ALL,
        &json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2}),
    ));
}

#[test]
fn rules_no_strict_schema_can_say() {
    expect![[r#"
        openai: {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"if":{"properties":{"a":{"const":"x"}}},"then":{"required":["b"]},"not":{"required":["c"]},"additionalProperties":false}
        openai-strict: {"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]}},"required":["a","b"],"additionalProperties":false,"description":"(must fit {\"if\":{\"properties\":{\"a\":{\"const\":\"x\"}}},\"then\":{\"required\":[\"b\"]}}; must fit {\"not\":{\"required\":[\"c\"]}})"}
        anthropic-strict: {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false,"description":"(must fit {\"if\":{\"properties\":{\"a\":{\"const\":\"x\"}}},\"then\":{\"required\":[\"b\"]}}; must fit {\"not\":{\"required\":[\"c\"]}})"}
        gemini: {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"description":"(must fit {\"if\":{\"properties\":{\"a\":{\"const\":\"x\"}}},\"then\":{\"required\":[\"b\"]}}; must fit {\"not\":{\"required\":[\"c\"]}})"}
        upper-case: {"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"required":["a"],"description":"(must fit {\"if\":{\"properties\":{\"a\":{\"const\":\"x\"}}},\"then\":{\"required\":[\"b\"]}}; must fit {\"not\":{\"required\":[\"c\"]}})"}
    "#]].assert_eq(&property(
        &ALL,
        &json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "required": ["a"],
            "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]},
            "not": {"required": ["c"]},
            "additionalProperties": false,
        }),
    ));
}

#[test]
fn a_union_as_the_root_is_one_object() {
    // sc-14
    let union = json!({
        "$defs": {"Close": {"type": "object", "properties": {"action": {"const": "Close"}}, "required": ["action"], "additionalProperties": false}},
        "oneOf": [
            {"type": "object", "properties": {"action": {"type": "string", "const": "Open"}, "path": {"type": "string"}}, "required": ["action", "path"], "additionalProperties": false},
            {"$ref": "#/$defs/Close"},
        ],
    });

    for dialect in [
        Dialect::OpenAi,
        Dialect::Anthropic,
        Dialect::OpenAiStrict,
        Dialect::Gemini,
    ] {
        let written = dialect.translate(&union);
        assert_eq!(written.schema["type"], "object", "{dialect}");
        for keyword in ["oneOf", "anyOf", "allOf", "enum", "not"] {
            assert_eq!(written.schema.get(keyword), None, "{dialect}");
        }
    }
    expect![[r#"{"type":"object","properties":{"action":{"type":"string","enum":["Open","Close"]},"path":{"type":"string"}},"required":["action"],"description":"(give one of these sets of properties: action, path | action)"}"#]].assert_eq(&Dialect::Gemini.translate(&union).text);
}

#[test]
fn a_root_that_says_nothing_is_an_object_without_properties() {
    for nothing in [
        json!(null),
        json!({}),
        json!({"type": "object", "properties": null}),
        json!({"type": ["object", "null"]}),
    ] {
        for dialect in Dialect::ALL
            .into_iter()
            .filter(|it| *it != Dialect::Neutral)
        {
            let written = dialect.translate(&nothing).schema;
            let kind = written["type"].as_str().map(str::to_lowercase);
            assert_eq!(kind.as_deref(), Some("object"), "{dialect}: {nothing}");
            assert_eq!(written["properties"], json!({}), "{dialect}: {nothing}");
        }
    }
}

#[test]
fn a_reference_to_another_place_than_a_definition_is_put_in_place() {
    // sc-08
    let input = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "format": "date-time"},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#/definitions/C"},
        },
        "required": ["a", "b", "c"],
        "definitions": {"C": {"type": "integer"}},
    });

    for dialect in [
        Dialect::OpenAi,
        Dialect::OpenAiStrict,
        Dialect::AnthropicStrict,
        Dialect::Gemini,
    ] {
        let properties = &dialect.translate(&input).schema["properties"];
        assert_eq!(
            properties["b"],
            json!({"type": "string", "format": "date-time"}),
            "{dialect}"
        );
        assert_eq!(properties["c"], json!({"type": "integer"}), "{dialect}");
    }
}

#[test]
fn a_reference_that_leads_nowhere_is_refused() {
    // E3
    for reference in ["#/$defs/Missing", "https://example.org/schema.json"] {
        let input =
            json!({"type": "object", "properties": {"p": {"$ref": reference}}, "required": ["p"]});

        let change = changes(Dialect::OpenAi, &input).remove(0);

        assert_eq!(change.effect, ChangeEffect::Refused);
        assert_eq!(change.pointer, "/properties/p");
        assert!(change.why.contains(reference), "{}", change.why);
    }
}

#[test]
fn a_foreign_schema_that_grows_without_end_is_cut() {
    let deep = (0..200).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "array", "items": inner}),
    );
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = format!("#/$defs/L{}", level + 1);
        let branch =
            json!({"type": "object", "properties": {"a": {"$ref": next}, "b": {"$ref": next}}});
        definitions.insert(format!("L{level}"), branch);
    }
    definitions.insert("L40".to_owned(), json!({"type": "string"}));
    let wide = json!({"$ref": "#/$defs/L0"});
    for p in [deep, wide] {
        let input = json!({"type": "object", "$defs": definitions, "properties": {"p": p}});
        for dialect in Dialect::ALL {
            let written = dialect.translate(&input);
            assert!(written.text.len() < 10_000_000, "{dialect}");
        }
    }
}

#[test]
fn enums_that_share_no_value_are_told_where_they_become_one_schema() {
    let both = json!({"allOf": [{"enum": ["a", "b"]}, {"enum": ["x", "b"]}]});
    let none = json!({"allOf": [{"enum": ["a", "b"]}, {"enum": ["x", "y"]}]});
    let input = |p: Value| json!({"type": "object", "properties": {"p": p}});

    assert!(changes(Dialect::Gemini, &input(both)).is_empty());
    let [change] = &changes(Dialect::Gemini, &input(none))[..] else {
        panic!("one change");
    };
    assert_eq!(change.effect, ChangeEffect::Looser);
    assert!(change.why.contains("one of \"x\", \"y\""), "{}", change.why);
}
