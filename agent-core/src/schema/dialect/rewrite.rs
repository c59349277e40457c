//! Applies a table to a schema, node by node.
//!
//! A node's references and `allOf` are resolved first, then each keyword meets its fate, then
//! the object as a whole is made what the provider wants. Foreign schemas are bounded in
//! depth and in nodes.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::refs::Definitions;
use super::table::{Fate, Null, Objects, Rules};
use super::unions::name_type;
use super::words::{tell, words};
use super::{Change, ChangeEffect};
use crate::schema::tidy::is_number_format;

/// How deep a schema can be and how many nodes it can have, all references followed.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 20_000;

/// The schema by these rules, and what was changed.
pub(super) fn rewrite(rules: &'static Rules, neutral: &Value) -> (Value, Vec<Change>) {
    if rules.verbatim {
        return (neutral.clone(), Vec::new());
    }
    let mut rewriter = Rewriter {
        rules,
        definitions: Definitions::of(neutral),
        changes: Vec::new(),
        nodes: 0,
        inlined: Vec::new(),
    };
    let mut told = Vec::new();
    let root = rewriter.root(neutral, &mut told);
    let schema = rewriter.node(root, &Place::root(), told);
    rewriter.check_size(&schema);
    // What is put in several places is changed in each, and told once.
    let mut told = HashSet::new();
    let mut changes = rewriter.changes;
    changes.retain(|change| told.insert(change.clone()));
    (schema, changes)
}

pub(super) struct Rewriter<'a> {
    pub(super) rules: &'static Rules,
    pub(super) definitions: Definitions<'a>,
    changes: Vec<Change>,
    nodes: usize,
    /// The references that are being put in place, outermost first.
    pub(super) inlined: Vec<String>,
}

/// A place in the neutral schema.
pub(super) struct Place {
    pub(super) pointer: String,
    depth: usize,
}

impl Place {
    pub(super) fn root() -> Self {
        Self {
            pointer: String::new(),
            depth: 0,
        }
    }

    pub(super) fn child(&self, key: &str) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        Self {
            pointer: format!("{}/{key}", self.pointer),
            depth: self.depth + 1,
        }
    }

    /// The place a reference leads to, reached from here.
    pub(super) fn elsewhere(&self, reference: &str) -> Self {
        Self {
            pointer: reference.trim_start_matches('#').to_owned(),
            depth: self.depth + 1,
        }
    }
}

impl Rewriter<'_> {
    pub(super) fn change(
        &mut self,
        at: &Place,
        effect: ChangeEffect,
        what: impl Into<Cow<'static, str>>,
        why: impl Into<Cow<'static, str>>,
    ) {
        self.changes.push(Change {
            pointer: at.pointer.clone(),
            what: what.into(),
            why: why.into(),
            effect,
        });
    }

    /// Puts a rule into words instead of keywords.
    pub(super) fn tell(
        &mut self,
        told: &mut Vec<String>,
        at: &Place,
        keyword: &str,
        value: &Value,
    ) {
        let Some(text) = words(keyword, value) else {
            return;
        };
        let effect = match keyword {
            "default" | "examples" => ChangeEffect::Same,
            _ => ChangeEffect::Looser,
        };
        let why = format!("not taken; the description says: {text}");
        self.change(at, effect, format!("`{keyword}`"), why);
        told.push(text);
    }

    /// The schema that is here, rewritten.
    pub(super) fn schema(&mut self, schema: &Value, at: &Place) -> Value {
        self.nodes += 1;
        if at.depth > MAX_DEPTH || self.nodes > MAX_NODES {
            let why = "cut off: with all references followed the schema is too large";
            self.change(at, ChangeEffect::Looser, "schema", why);
            return self.node(Map::new(), at, Vec::new());
        }
        match schema {
            Value::Object(members) => self.node(members.clone(), at, Vec::new()),
            Value::Bool(false) if self.rules.objects == Objects::Any => Value::Bool(false),
            Value::Bool(false) => {
                let why = "no value at all cannot be said";
                self.change(at, ChangeEffect::Looser, "`false`", why);
                self.node(Map::new(), at, vec!["never given".to_owned()])
            }
            _ => self.node(Map::new(), at, Vec::new()),
        }
    }

    pub(super) fn node(
        &mut self,
        mut node: Map<String, Value>,
        at: &Place,
        mut told: Vec<String>,
    ) -> Value {
        if let Some(replaced) = self.reference(&mut node, at) {
            return replaced;
        }
        if self.rules.fate("allOf") == Fate::Rewrite {
            self.merge_all_of(&mut node, at, &mut told);
        }
        if self.rules.fate("oneOf") == Fate::Rewrite {
            self.one_of(&mut node, at, &mut told);
        }
        if self.rules.text_enums {
            self.text_enum(&mut node, at, &mut told);
        }
        if self.rules.null == Null::Nullable {
            super::null::unlist_types(&mut node);
        }
        let conditional = Value::from_iter(
            ["if", "then", "else"]
                .into_iter()
                .filter_map(|keyword| Some((keyword.to_owned(), node.get(keyword)?.clone()))),
        );
        let mut out = Map::new();
        for (keyword, value) in &node {
            match self.rules.fate(keyword) {
                Fate::Keep => {
                    if let Some(value) = self.keyword(keyword, value, at, &mut told) {
                        out.insert(keyword.clone(), value);
                    }
                }
                Fate::Rewrite if keyword == "prefixItems" => {
                    self.tuple(value, at, &mut told, &mut out);
                }
                Fate::Tell if keyword == "if" => {
                    let text = format!("must fit {conditional}");
                    let why = format!("not taken; the description says: {text}");
                    self.change(at, ChangeEffect::Looser, "`if`", why);
                    told.push(text);
                }
                Fate::Rewrite | Fate::Tell => self.tell(&mut told, at, keyword, value),
                Fate::Drop => {
                    self.change(
                        at,
                        ChangeEffect::Same,
                        format!("`{keyword}`"),
                        "not taken; left out",
                    );
                }
                Fate::Stop => {
                    let why = "cannot be said in a strict schema";
                    self.change(at, ChangeEffect::NotStrict, format!("`{keyword}`"), why);
                }
            }
        }
        if self.rules.objects != Objects::Any {
            name_type(&mut out);
        }
        self.object(&mut out, at);
        self.list(&mut out, at);
        if !self.rules.anything && !says_type(&out) {
            let why = "takes values of any type; a strict schema names the type of each";
            self.change(at, ChangeEffect::NotStrict, "`{}`", why);
        }
        if self.rules.distinct_first_keys {
            self.first_keys(&out, at);
        }
        tell(&mut out, &told);
        if self.rules.null == Null::Nullable {
            self.nullable_union(&mut out, at);
        }
        if self.rules.upper_case
            && let Some(Value::String(name)) = out.get_mut("type")
        {
            name.make_ascii_uppercase();
        }
        out.into()
    }

    /// The value of a keyword that stays, or `None` if it goes all the same.
    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        at: &Place,
        told: &mut Vec<String>,
    ) -> Option<Value> {
        match (keyword, value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(members),
            ) => {
                let at = at.child(keyword);
                let rewrite = |(name, schema): (&String, &Value)| {
                    (name.clone(), self.schema(schema, &at.child(name)))
                };
                Some(members.iter().map(rewrite).collect())
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(branches)) => {
                let at = at.child(keyword);
                let rewrite = |(index, branch): (usize, &Value)| {
                    self.schema(branch, &at.child(&index.to_string()))
                };
                Some(branches.iter().enumerate().map(rewrite).collect())
            }
            (
                "items"
                | "additionalProperties"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Value::Object(_),
            ) => Some(self.schema(value, &at.child(keyword))),
            ("format", Value::String(format)) => {
                if is_number_format(format) {
                    let why = "names a number type of a programming language; left out";
                    self.change(at, ChangeEffect::Same, "`format`", why);
                    return None;
                }
                let taken = self.rules.formats;
                if taken.is_none_or(|taken| taken.contains(&&**format)) {
                    return Some(value.clone());
                }
                self.tell(told, at, keyword, value);
                None
            }
            ("pattern", Value::String(pattern))
                if self.rules.lenient.is_some() && !is_simple(pattern) =>
            {
                self.tell(told, at, keyword, value);
                None
            }
            ("minItems", _)
                if value.as_u64() > self.rules.min_items && self.rules.min_items.is_some() =>
            {
                self.tell(told, at, keyword, value);
                None
            }
            _ => Some(value.clone()),
        }
    }

    /// A list says what its items are.
    fn list(&mut self, out: &mut Map<String, Value>, at: &Place) {
        let is_list = super::null::has_type(out, "array");
        if !is_list || out.contains_key("items") || out.contains_key("prefixItems") {
            return;
        }
        let why = "a list must say what its items are";
        if self.rules.lenient.is_some() {
            self.change(at, ChangeEffect::NotStrict, "`items`", why);
        } else {
            self.change(at, ChangeEffect::Same, "`items`", why);
            out.insert("items".to_owned(), Map::new().into());
        }
    }
}

/// True if the schema says which types its values have.
pub(super) fn says_type(schema: &Map<String, Value>) -> bool {
    ["type", "$ref", "anyOf"]
        .iter()
        .any(|keyword| schema.contains_key(*keyword))
}

/// True for what every engine of regular expressions can do: no look-around, no word
/// boundaries, no references back.
fn is_simple(pattern: &str) -> bool {
    let look_around = ["(?=", "(?!", "(?<"]
        .iter()
        .any(|open| pattern.contains(open));
    let escape = pattern
        .split('\\')
        .skip(1)
        .any(|rest| rest.starts_with(|first: char| matches!(first, 'b' | 'B' | '1'..='9' | 'k')));
    !look_around && !escape
}
