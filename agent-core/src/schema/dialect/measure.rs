//! How large a schema is, and whether that is too large for a strict one.

use std::collections::{HashMap, VecDeque};
use std::mem;

use serde_json::{Map, Value};

use super::rewrite::{Place, Rewriter};
use super::{ChangeEffect, DialectLimits};

/// How large a schema is; what is defined once counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Size {
    /// Properties at all depths.
    pub properties: usize,
    /// How deep objects and lists stand in each other, references followed; the root is one.
    pub depth: usize,
    /// Values of all enums.
    pub enum_values: usize,
    /// Characters of the names of properties and definitions, of enum values and constants.
    pub characters: usize,
    /// Characters of the largest enum of texts that has more than 250 values; else 0.
    pub long_enum: usize,
    /// Properties that are not required.
    pub optional_properties: usize,
    /// Schemas with `anyOf` or several types.
    pub unions: usize,
}

impl Size {
    /// Measures a schema.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        let mut size = Self::default();
        size.add(schema);
        size.depth = depth(schema);
        size
    }

    fn add(&mut self, schema: &Value) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        if schema.contains_key("anyOf") || schema.get("type").is_some_and(Value::is_array) {
            self.unions += 1;
        }
        for (keyword, value) in schema {
            match (&**keyword, value) {
                ("properties", Value::Object(properties)) => {
                    self.properties += properties.len();
                    let required = schema.get("required").and_then(Value::as_array);
                    let is_required = |name: &String| {
                        required.is_some_and(|required| required.iter().any(|it| it == name))
                    };
                    let optional = properties.keys().filter(|name| !is_required(name));
                    self.optional_properties += optional.count();
                }
                ("enum", Value::Array(values)) => {
                    let characters: usize = values.iter().map(length).sum();
                    self.enum_values += values.len();
                    self.characters += characters;
                    if values.len() > DialectLimits::LONG_ENUM
                        && values.iter().any(Value::is_string)
                    {
                        self.long_enum = self.long_enum.max(characters);
                    }
                }
                ("const", value) => self.characters += length(value),
                _ => {}
            }
            if let ("properties" | "$defs", Value::Object(members)) = (&**keyword, value) {
                self.characters += members
                    .keys()
                    .map(|name| name.chars().count())
                    .sum::<usize>();
            }
        }
        children(schema, |_, child| self.add(child));
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        value => value.to_string().len(),
    }
}

/// The schemas right inside this one.
fn children<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(&'a str, &'a Value)) {
    for (keyword, value) in schema {
        match (&**keyword, value) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(all)) => {
                all.values().for_each(|child| visit(keyword, child));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter().for_each(|child| visit(keyword, child));
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", value) => {
                visit(keyword, value);
            }
            _ => {}
        }
    }
}

/// How deep objects and lists stand in each other, references followed.
///
/// No reference is followed by a call of its own: a schema from elsewhere may hold a chain of
/// thousands.
fn depth(root: &Value) -> usize {
    // Of what references lead to; 0 while it is being found, so that a circle counts once.
    let mut known = HashMap::new();
    let mut outer = Vec::new();
    let mut part = Part::of(None, root);
    loop {
        if let Some((reference, above)) = part.references.pop_front() {
            if let Some(below) = known.get(reference) {
                part.depth = part.depth.max(above + below);
                continue;
            }
            known.insert(reference, 0);
            let pointer = reference.strip_prefix('#');
            if let Some(target) = pointer.and_then(|pointer| root.pointer(pointer)) {
                part.references.push_front((reference, above));
                outer.push(mem::replace(&mut part, Part::of(Some(reference), target)));
            }
            continue;
        }
        known.extend(part.reference.map(|reference| (reference, part.depth)));
        match outer.pop() {
            Some(around) => part = around,
            None => return part.depth,
        }
    }
}

/// A schema up to where its references lead elsewhere.
struct Part<'a> {
    /// What leads here, if this is not the root.
    reference: Option<&'a str>,
    depth: usize,
    /// Those that were not followed yet, and how deep they stand.
    references: VecDeque<(&'a str, usize)>,
}

impl<'a> Part<'a> {
    fn of(reference: Option<&'a str>, schema: &'a Value) -> Self {
        let mut part = Self {
            reference,
            depth: 0,
            references: VecDeque::new(),
        };
        part.look(schema, 0);
        part
    }

    fn look(&mut self, schema: &'a Value, above: usize) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        let own = ["properties", "items", "prefixItems", "additionalProperties"]
            .iter()
            .any(|keyword| schema.contains_key(*keyword));
        let depth = above + usize::from(own);
        self.depth = self.depth.max(depth);
        let reference = schema.get("$ref").and_then(Value::as_str);
        self.references.extend(reference.map(|to| (to, depth)));
        children(schema, |keyword, child| {
            if !matches!(keyword, "$defs" | "definitions") {
                self.look(child, depth);
            }
        });
    }
}

impl Rewriter<'_> {
    /// Holds a strict schema to the limits of one schema.
    pub(super) fn check_size(&mut self, schema: &Value) {
        if self.rules.lenient.is_none() {
            return;
        }
        let size = Size::of(schema);
        let limits = self.rules.limits;
        let many = DialectLimits::LONG_ENUM;
        let long = format!("characters in an enum of more than {many} values");
        for (what, is, limit) in [
            ("properties", size.properties, limits.properties),
            ("levels of objects and lists", size.depth, limits.depth),
            ("enum values", size.enum_values, limits.enum_values),
            (
                "characters in names and enums",
                size.characters,
                limits.characters,
            ),
            (&*long, size.long_enum, limits.long_enum),
            (
                "properties that are not required",
                size.optional_properties,
                limits.optional_properties,
            ),
            ("unions", size.unions, limits.unions),
        ] {
            if let Some(limit) = limit.filter(|limit| is > *limit) {
                let why = format!("there are {is}; a strict schema can have {limit}");
                self.change(
                    &Place::root(),
                    ChangeEffect::NotStrict,
                    what.to_owned(),
                    why,
                );
            }
        }
    }
}
