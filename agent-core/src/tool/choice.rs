//! Values that may be one thing or another, or hold themselves, made to fit.
//!
//! Of several branches the one counts that takes the value as it is, else the only one that
//! has a reading of it. Where none has, the faults are those of the branch that the value
//! names by its tag or its key.

use serde_json::Value;

use super::fault::{Fault, What, shown};
use super::fit::{Fit, container};
use crate::schema::Schema;

/// The most branches that are tried for one argument. Without a tag each level of a nested
/// value multiplies them; what is left is then for the type to read.
const MOST_TRIES: usize = 1_000;

impl Fit<'_> {
    pub(super) fn any_of(
        &mut self,
        schema: &'static Schema,
        branches: &'static [Schema],
        value: Value,
    ) -> Value {
        // Whether a branch fits could not be told.
        if self.is_full() {
            return value;
        }
        let before = self.faults.len();
        let mut readings: Vec<Value> = Vec::new();
        let mut meant = None;
        let is_named = branches.iter().any(|branch| is_meant(branch, &value));
        for branch in branches {
            if is_named && !is_meant(branch, &value) {
                continue;
            }
            if self.tries == MOST_TRIES {
                return value;
            }
            self.tries += 1;
            let reading = self.fit(branch, value.clone());
            let faults = self.faults.split_off(before);
            if !faults.is_empty() {
                if is_named {
                    meant = Some(faults);
                }
            } else if reading == value {
                return value;
            } else if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        let inner = match &value {
            Value::String(text) => container(text),
            _ => None,
        };
        match (readings.pop(), meant, inner) {
            (Some(reading), _, _) if readings.is_empty() => return reading,
            // With two readings it is for the type to say which it takes.
            (Some(_), _, _) => {}
            (None, Some(faults), _) => self.faults.extend(faults),
            (None, None, Some(inner)) => return self.any_of(schema, branches, inner),
            (None, None, None) => self.none_of(schema, branches, &value),
        }
        value
    }

    /// Notes that the value names no branch, under its tag if there is one.
    fn none_of(&mut self, schema: &'static Schema, branches: &'static [Schema], value: &Value) {
        let Some((tag, names)) = tags(branches).filter(|_| value.is_object()) else {
            self.fault(schema, value.clone());
            return;
        };
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let expected = format!("one of {}", quoted.join(", "));
        let what = match value.get(tag) {
            Some(value) => What::Misfit {
                expected,
                received: shown(&value.to_string(), self.secrets),
            },
            None => What::Missing { expected },
        };
        let path = format!("{}.{tag}", self.path);
        self.faults.push(Fault::new(path, what));
    }

    /// An object whose members are those of all parts.
    pub(super) fn joined(&mut self, parts: &'static [Schema], mut value: Value) -> Value {
        for part in parts {
            if self.is_full() {
                return value;
            }
            value = match part {
                Schema::Map(inner) => self.others(inner, parts, value),
                Schema::Null => value,
                Schema::Nullable(inner) => {
                    let before = self.faults.len();
                    let fitted = self.fit(inner, value.clone());
                    let fits = self.faults.len() == before;
                    self.faults.truncate(before);
                    if fits { fitted } else { value }
                }
                part => self.fit(part, value),
            };
        }
        value
    }

    /// The members of an object that none of its parts names.
    fn others(
        &mut self,
        schema: &'static Schema,
        parts: &'static [Schema],
        mut value: Value,
    ) -> Value {
        for (name, member) in value.as_object_mut().into_iter().flatten() {
            if !parts.iter().any(|part| part.may_name(name)) {
                *member = self.within(&format!(".{name}"), schema, None, member.take());
            }
        }
        value
    }

    pub(super) fn definition(
        &mut self,
        definition: &'static Schema,
        body: &'static Schema,
        value: Value,
    ) -> Value {
        self.definitions.push(definition);
        let value = self.fit(body, value);
        self.definitions.pop();
        value
    }

    /// What the reference leads to, in the definitions around that.
    pub(super) fn reference(&mut self, name: &str, value: Value) -> Value {
        let Some((index, body)) = self.definition_of(name) else {
            return value;
        };
        let inner = self.definitions.split_off(index + 1);
        let value = self.fit(body, value);
        self.definitions.extend(inner);
        value
    }

    /// Where the definition of that name around this place is, and what it says.
    fn definition_of(&self, name: &str) -> Option<(usize, &'static Schema)> {
        let mut around = self.definitions.iter().enumerate().rev();
        around.find_map(|(index, definition)| match definition {
            Schema::Def(it, body) if *it == name => Some((index, *body)),
            _ => None,
        })
    }

    /// What a reference leads to; any other schema itself.
    pub(super) fn known(&self, schema: &'static Schema) -> &'static Schema {
        match schema {
            Schema::Described(_, inner) => self.known(inner),
            Schema::Ref(name) => self.definition_of(name).map_or(schema, |(_, body)| body),
            other => other,
        }
    }
}

/// True if the value has the tag or the key of the branch.
fn is_meant(branch: &Schema, value: &Value) -> bool {
    let Some((name, tag, is_alone)) = first_property(branch) else {
        return false;
    };
    match (tag, value.get(name)) {
        (Some(names), Some(Value::String(text))) => names.contains(&text.as_str()),
        (None, Some(_)) => is_alone,
        _ => false,
    }
}

/// The property all branches have as their tag, and what it may be.
fn tags(branches: &[Schema]) -> Option<(&'static str, Vec<&'static str>)> {
    let mut all = Vec::new();
    let mut tag = None;
    for branch in branches {
        let (name, names, _) = first_property(branch)?;
        if *tag.get_or_insert(name) != name {
            return None;
        }
        all.extend(names?);
    }
    Some((tag?, all))
}

/// The first property of an object: its name, its texts if it is one of some, and whether
/// it stands alone.
fn first_property(
    branch: &Schema,
) -> Option<(&'static str, Option<&'static [&'static str]>, bool)> {
    match branch {
        Schema::Described(_, inner) | Schema::Def(_, inner) => first_property(inner),
        Schema::Joined(parts) => first_property(parts.first()?),
        Schema::Object(properties) => {
            let first = properties.first()?;
            let texts = match first.schema {
                Schema::Enum(texts) | Schema::Described(_, Schema::Enum(texts)) => Some(*texts),
                _ => None,
            };
            Some((first.name, texts, properties.len() == 1))
        }
        _ => None,
    }
}
