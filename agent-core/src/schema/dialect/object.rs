//! Objects: closed or not, and what becomes of properties that are not required.

use serde_json::{Map, Value};

use super::ChangeEffect;
use super::null::{allows_null, has_type, with_null, without_null};
use super::rewrite::{Place, Rewriter};
use super::table::{Objects, Optional};

impl Rewriter<'_> {
    /// Makes an object what the dialect wants objects to be.
    pub(super) fn object(&mut self, out: &mut Map<String, Value>, at: &Place) {
        if !has_type(out, "object") && !out.contains_key("properties") {
            return;
        }
        if self.rules.objects != Objects::Any {
            self.list_required(out, at);
        }
        self.close(out, at);
        match self.rules.optional {
            Optional::Keep => {}
            Optional::RequiredOrNull => self.require_all(out, at),
            Optional::WithoutNull => self.strip_null(out, at),
        }
        if at.pointer.is_empty() {
            self.property_names(out, at);
        }
    }

    /// A required property that is not listed is refused, so it is listed, with any value.
    fn list_required(&mut self, out: &mut Map<String, Value>, at: &Place) {
        let is_closed = out.get("additionalProperties") == Some(&Value::Bool(false));
        let listed = |out: &Map<String, Value>, name: &str| {
            let all = out.get("properties").and_then(Value::as_object);
            all.is_some_and(|all| all.contains_key(name))
        };
        let mut required = names(out);
        let (known, unknown): (Vec<_>, Vec<_>) =
            required.drain(..).partition(|name| listed(out, name));
        if unknown.is_empty() {
            return;
        }
        if is_closed {
            out.insert("required".to_owned(), known.into());
            return;
        }
        for name in unknown {
            let (effect, why) = match self.rules.objects {
                Objects::Closed => (
                    ChangeEffect::NotStrict,
                    "required, but not listed: a strict schema names the type of each property",
                ),
                _ => (ChangeEffect::Same, "required, but not listed; now it is"),
            };
            let what = format!("property `{name}`");
            self.change(&at.child("required"), effect, what, why);
            let properties = out
                .entry("properties")
                .or_insert_with(|| Map::new().into())
                .as_object_mut();
            if let Some(properties) = properties {
                properties.insert(name, Map::new().into());
            }
        }
    }

    fn close(&mut self, out: &mut Map<String, Value>, at: &Place) {
        if self.rules.objects != Objects::Closed {
            return;
        }
        let lists = out
            .get("properties")
            .and_then(Value::as_object)
            .is_some_and(|properties| !properties.is_empty());
        match out.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            // The root of a tool without parameters takes nothing.
            None if lists || at.pointer.is_empty() => {
                let why = "a strict object takes no other properties";
                self.change(at, ChangeEffect::Narrower, "`additionalProperties`", why);
            }
            _ => {
                let why = "takes any keys; a strict object lists all of its properties";
                let name = at.pointer.rsplit('/').next().unwrap_or_default();
                let what = if name.is_empty() {
                    "open object".to_owned()
                } else {
                    format!("map `{name}`")
                };
                self.change(at, ChangeEffect::NotStrict, what, why);
            }
        }
        out.entry("properties").or_insert_with(|| Map::new().into());
        out.entry("required")
            .or_insert_with(|| Value::Array(Vec::new()));
        out.shift_remove("additionalProperties");
        out.insert("additionalProperties".to_owned(), false.into());
    }

    fn require_all(&mut self, out: &mut Map<String, Value>, at: &Place) {
        let required = names(out);
        let Some(Value::Object(properties)) = out.get_mut("properties") else {
            return;
        };
        let at = at.child("properties");
        for (name, schema) in properties.iter_mut() {
            if required.iter().any(|it| it == name) {
                continue;
            }
            let why = "not required: in a strict schema it is, and null stands for none";
            self.change(&at.child(name), ChangeEffect::Same, "`required`", why);
            if !allows_null(schema, &self.definitions) {
                with_null(schema);
            }
        }
        let all: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        out.insert("required".to_owned(), all.into());
    }

    fn strip_null(&mut self, out: &mut Map<String, Value>, at: &Place) {
        let required = names(out);
        let Some(Value::Object(properties)) = out.get_mut("properties") else {
            return;
        };
        let at = at.child("properties");
        for (name, schema) in properties.iter_mut() {
            if required.iter().any(|it| it == name) || !without_null(schema) {
                continue;
            }
            let why = "left out instead of null: a type or null counts as a union";
            self.change(&at.child(name), ChangeEffect::Narrower, "null", why);
        }
    }

    fn property_names(&mut self, out: &Map<String, Value>, at: &Place) {
        let (pattern, fits) = self.rules.property_names;
        let properties = out.get("properties").and_then(Value::as_object);
        for name in properties.into_iter().flatten().map(|(name, _)| name) {
            if !fits(name) {
                let at = at.child("properties").child(name);
                let why = format!("names of properties must fit `{pattern}`");
                self.change(&at, ChangeEffect::Refused, format!("name `{name}`"), why);
            }
        }
    }
}

fn names(object: &Map<String, Value>) -> Vec<String> {
    let names = object.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}
