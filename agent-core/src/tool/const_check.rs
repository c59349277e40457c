//! What rustc refuses of a tool whose types are sound: what a provider would answer with an
//! error, and what the tool's keys ask for.
//!
//! Each check panics in a constant, in words, and is shown where generated code calls it.

use super::param::Parameter;
use crate::schema::{Property, Schema};

/// Most properties of a tool.
const PARAMETERS: usize = 100;
/// How deep objects and lists stand in each other; the tool's input is the first.
const DEPTH: usize = 10;
const DESCRIPTION: usize = 1_024;

/// Checks one parameter, if the model gives it.
#[track_caller]
pub const fn check_parameter(parameter: Parameter, strict: bool, require_docs: bool, whole: bool) {
    let Some(property) = parameter.argument() else {
        return;
    };
    if whole {
        assert!(
            may_be_object(property.schema),
            "with `args` the input is one object, which this type is not; take a struct with named fields or an enum of such, or leave out `args`"
        );
        walk(property.schema, 0, strict, require_docs);
        return;
    }
    assert!(
        !require_docs || is_described(property),
        "`require_docs` wants a description of each argument; write a doc comment above this one"
    );
    walk(property.schema, 1, strict, require_docs);
}

/// Checks what only all parameters together can get wrong, and the description.
#[track_caller]
pub const fn check_tool(parameters: &[Parameter], description: &str, whole: bool) {
    assert!(
        characters(description) <= DESCRIPTION,
        "the description has more than 1,024 characters, which providers refuse; shorten it"
    );
    let mut given = 0;
    let mut index = 0;
    while index < parameters.len() {
        if parameters[index].argument().is_some() {
            given += 1;
        }
        index += 1;
    }
    assert!(
        !whole || given == 1,
        "with `args` exactly one parameter is the input, beside those of the context; put the others into its type"
    );
    assert!(
        given <= PARAMETERS,
        "the tool has more than 100 parameters, which providers refuse; make several tools of it"
    );
}

#[track_caller]
const fn walk(schema: &Schema, depth: usize, strict: bool, require_docs: bool) {
    let depth = match schema {
        Schema::Object(_) | Schema::Array { .. } | Schema::Tuple(_) | Schema::Map(_) => depth + 1,
        _ => depth,
    };
    assert!(
        depth <= DEPTH,
        "objects and lists stand in each other more than 10 deep, which providers refuse; make the type flatter"
    );
    match schema {
        Schema::Array { items, .. } => assert!(
            !is_any(items),
            "a list needs a type for its items, else providers refuse it; write for example `Vec<String>`"
        ),
        Schema::Map(_) => assert!(
            !strict,
            "a strict tool takes no maps, as their keys are not known; write a struct, or leave out `strict`"
        ),
        Schema::Any => assert!(
            !strict,
            "a strict tool takes no values of any type; write the type, or leave out `strict`"
        ),
        Schema::Object(properties) => members(properties, require_docs),
        Schema::Joined(parts) => flattened(parts),
        _ => {}
    }
    let mut index = 0;
    while let Some(child) = schema.child(index) {
        walk(child, depth, strict, require_docs);
        index += 1;
    }
}

#[track_caller]
const fn members(properties: &[Property], require_docs: bool) {
    let mut index = 0;
    while index < properties.len() {
        assert!(
            !require_docs || is_described(&properties[index]),
            "`require_docs` wants a description of each field; write doc comments on the fields of this type"
        );
        let mut other = 0;
        while other < index {
            assert!(
                !is_equal(properties[other].name, properties[index].name),
                "two fields of this type have one name in JSON; rename one with `#[serde(rename = \"…\")]`"
            );
            other += 1;
        }
        index += 1;
    }
}

/// Checks that no part of a whole has a member that another part has.
#[track_caller]
const fn flattened(parts: &[Schema]) {
    let mut index = 0;
    while index < parts.len() {
        let mut other = 0;
        while other < index {
            assert!(
                !share_a_name(&parts[index], &parts[other]),
                "a field of this type and one that is flattened into it have one name in JSON; rename one with `#[serde(rename = \"…\")]`"
            );
            other += 1;
        }
        index += 1;
    }
}

const fn share_a_name(schema: &Schema, other: &Schema) -> bool {
    if let Schema::Object(properties) = schema {
        let mut index = 0;
        while index < properties.len() {
            if has_member(other, properties[index].name) {
                return true;
            }
            index += 1;
        }
        return false;
    }
    let mut index = 0;
    while let Some(part) = part(schema, index) {
        if share_a_name(part, other) {
            return true;
        }
        index += 1;
    }
    false
}

const fn has_member(schema: &Schema, name: &str) -> bool {
    if let Schema::Object(properties) = schema {
        let mut index = 0;
        while index < properties.len() {
            if is_equal(properties[index].name, name) {
                return true;
            }
            index += 1;
        }
        return false;
    }
    let mut index = 0;
    while let Some(part) = part(schema, index) {
        if has_member(part, name) {
            return true;
        }
        index += 1;
    }
    false
}

/// What says of the same object which members it has.
const fn part(schema: &Schema, index: usize) -> Option<&'static Schema> {
    match schema {
        Schema::Nullable(_)
        | Schema::Described(..)
        | Schema::Def(..)
        | Schema::AnyOf(_)
        | Schema::Joined(_) => schema.child(index),
        _ => None,
    }
}

const fn is_described(property: &Property) -> bool {
    property.description.is_some()
        || property.schema.description().is_some()
        || matches!(property.schema, Schema::Schemars(_))
}

const fn may_be_object(schema: &Schema) -> bool {
    match schema {
        Schema::Object(_)
        | Schema::Map(_)
        | Schema::Joined(_)
        | Schema::Schemars(_)
        | Schema::Recursive(_) => true,
        Schema::Described(_, inner) | Schema::Def(_, inner) => may_be_object(inner),
        Schema::AnyOf(_) => {
            let mut index = 0;
            while let Some(branch) = schema.child(index) {
                if !may_be_object(branch) {
                    return false;
                }
                index += 1;
            }
            true
        }
        _ => false,
    }
}

const fn is_any(schema: &Schema) -> bool {
    match schema {
        Schema::Any => true,
        Schema::Described(_, inner) => is_any(inner),
        _ => false,
    }
}

const fn characters(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut count = 0;
    let mut index = 0;
    while index < bytes.len() {
        // All bytes of a character but its first begin with the bits 10.
        if bytes[index] & 0xc0 != 0x80 {
            count += 1;
        }
        index += 1;
    }
    count
}

const fn is_equal(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}
