//! Whether a JSON value is a JSON Schema of a tool's input: an object at the root, and every
//! keyword of the shape that JSON Schema (2020-12) gives it.
//!
//! Keywords nobody knows are left alone, as JSON Schema asks. What values the schema takes is
//! not looked at here.

use std::fmt;

use serde_json::{Map, Value};

use super::keywords::{Shape, shape};

/// How deep schemas may stand in each other; deeper ones no provider takes.
const MAX_DEPTH: usize = 100;

/// One place of a JSON value where it is no JSON Schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaFault {
    /// Where, as a JSON pointer; empty for the root.
    pub pointer: String,
    /// What must stand there.
    pub problem: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => write!(f, "the root {}", self.problem),
            pointer => write!(f, "`{pointer}` {}", self.problem),
        }
    }
}

/// Why a JSON value is no schema of a tool's input: every place, not only the first.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no schema of a tool's input: {}", list(.faults))]
pub struct SchemaError {
    faults: Vec<SchemaFault>,
}

impl SchemaError {
    /// An error of these faults.
    pub(crate) fn new(faults: Vec<SchemaFault>) -> Self {
        Self { faults }
    }

    /// Every fault.
    #[must_use]
    pub fn faults(&self) -> &[SchemaFault] {
        &self.faults
    }
}

fn list(faults: &[SchemaFault]) -> String {
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// The schema, if it is one of a tool's input. A `type` and `properties` that are not there
/// are those of an object.
pub(crate) fn checked(schema: Value) -> Result<Value, SchemaError> {
    let Value::Object(mut root) = schema else {
        return Err(SchemaError::new(vec![fault("", "must be an object")]));
    };
    complete(&mut root);
    let mut faults = Vec::new();
    if root.get("type").and_then(Value::as_str) != Some("object") {
        faults.push(fault("/type", "must be \"object\""));
    }
    let root = Value::Object(root);
    let mut check = Check {
        root: &root,
        pointer: String::new(),
        depth: 0,
        faults,
    };
    check.schema(&root);
    let mut faults = check.faults;
    // A root of a wrong type is told once.
    faults.dedup_by(|second, first| second.pointer == first.pointer);
    match faults.is_empty() {
        true => Ok(root),
        false => Err(SchemaError::new(faults)),
    }
}

/// A schema without `type` or `properties` at its root is what some servers send.
fn complete(root: &mut Map<String, Value>) {
    if !root.contains_key("type") {
        root.insert("type".to_owned(), "object".into());
    }
    if !root.contains_key("properties") {
        root.insert("properties".to_owned(), Map::new().into());
    }
}

fn fault(pointer: impl Into<String>, problem: impl Into<String>) -> SchemaFault {
    SchemaFault {
        pointer: pointer.into(),
        problem: problem.into(),
    }
}

struct Check<'a> {
    root: &'a Value,
    pointer: String,
    depth: usize,
    faults: Vec<SchemaFault>,
}

impl Check<'_> {
    fn fault(&mut self, problem: impl Into<String>) {
        self.faults.push(fault(self.pointer.clone(), problem));
    }

    /// Does this one step down.
    fn at(&mut self, step: &str, f: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer
            .push_str(&step.replace('~', "~0").replace('/', "~1"));
        f(self);
        self.pointer.truncate(length);
    }

    fn schema(&mut self, schema: &Value) {
        match schema {
            Value::Bool(_) => {}
            Value::Object(_) if self.depth == MAX_DEPTH => {
                self.fault(format!("stands more than {MAX_DEPTH} schemas deep"));
            }
            Value::Object(members) => {
                self.depth += 1;
                for (keyword, value) in members {
                    if let Some(shape) = shape(keyword) {
                        self.at(keyword, |check| check.shape(shape, value));
                    }
                }
                self.depth -= 1;
            }
            _ => self.fault("must be a schema: an object, `true` or `false`"),
        }
    }

    fn shape(&mut self, shape: Shape, value: &Value) {
        match shape {
            Shape::Schema => self.schema(value),
            Shape::Schemas => match value {
                Value::Array(schemas) if !schemas.is_empty() => self.each(schemas, Self::schema),
                _ => self.fault("must be a list of schemas with at least one"),
            },
            Shape::SchemaOrSchemas => match value {
                Value::Array(schemas) => self.each(schemas, Self::schema),
                value => self.schema(value),
            },
            Shape::SchemaByName => match value {
                Value::Object(schemas) => {
                    for (name, schema) in schemas {
                        self.at(name, |check| check.schema(schema));
                    }
                }
                _ => self.fault("must be an object of schemas"),
            },
            Shape::NamesByName => match value {
                Value::Object(lists) => {
                    for (name, list) in lists {
                        self.at(name, |check| check.shape(Shape::Names, list));
                    }
                }
                _ => self.fault("must be an object of lists of names"),
            },
            Shape::Reference => self.reference(value),
            plain => {
                if let Some(problem) = plain.problem(value) {
                    self.fault(problem);
                }
            }
        }
    }

    fn each(&mut self, values: &[Value], f: fn(&mut Self, &Value)) {
        for (index, value) in values.iter().enumerate() {
            self.at(&index.to_string(), |check| f(check, value));
        }
    }

    /// A reference must lead to a place of the schema itself: nothing is fetched.
    fn reference(&mut self, value: &Value) {
        let place = value.as_str().and_then(|text| text.strip_prefix('#'));
        let Some(pointer) = place.filter(|place| place.is_empty() || place.starts_with('/')) else {
            self.fault("must be `#` or begin with `#/`: a place in the schema itself");
            return;
        };
        let is_there = match self.root.pointer(pointer) {
            Some(found) => found.is_object() || found.is_boolean(),
            // A name with an escaped character: left to whoever reads the schema.
            None => pointer.contains('%'),
        };
        if !is_there {
            self.fault(format!("leads to `{pointer}`, where no schema is"));
        }
    }
}
