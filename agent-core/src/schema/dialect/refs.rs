//! References: what they lead to, and putting it in their place.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::ChangeEffect;
use super::circles::circles;
use super::rewrite::{Place, Rewriter};
use super::table::References;

/// What the references of one schema lead to.
pub(super) struct Definitions<'a> {
    root: &'a Value,
    /// Those that lead back to themselves, once somebody asked.
    circles: Option<HashSet<&'a str>>,
}

impl<'a> Definitions<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        Self {
            root,
            circles: None,
        }
    }

    /// What a reference inside the schema leads to.
    pub(super) fn get(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(&decoded(reference.strip_prefix('#')?))
    }

    /// True if what the reference leads to leads back to it.
    fn is_circular(&mut self, reference: &str) -> bool {
        if self.circles.is_none() {
            self.circles = Some(circles(self.root, self));
        }
        let circles = self.circles.as_ref();
        circles.is_some_and(|circles| circles.contains(reference))
    }
}

/// A fragment without its `%xx`; only those of JSON pointers matter here.
fn decoded(fragment: &str) -> String {
    ["%24 $", "%3C <", "%3E >", "%20  ", "%7E ~", "%25 %"]
        .iter()
        .fold(fragment.to_owned(), |text, pair| {
            text.replace(&pair[..3], &pair[4..])
        })
}

/// True for `#` and `#/$defs/name`, which every provider that knows references takes.
fn is_plain(reference: &str) -> bool {
    let name = reference.strip_prefix("#/$defs/");
    reference == "#" || name.is_some_and(|name| !name.contains('/'))
}

/// True if the keyword only speaks to a reader.
fn is_note(keyword: &str) -> bool {
    matches!(
        keyword,
        "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly"
    )
}

impl Rewriter<'_> {
    /// Handles the `$ref` of a node: gives what stands in the node's place, or `None` if the
    /// node is to be rewritten as it is now.
    pub(super) fn reference(&mut self, node: &mut Map<String, Value>, at: &Place) -> Option<Value> {
        let reference = node.get("$ref")?.as_str()?.to_owned();
        let Some(target) = self.definitions.get(&reference) else {
            node.shift_remove("$ref");
            let why = format!("`{reference}` leads to nothing in the schema; left out");
            self.change(at, ChangeEffect::Refused, "`$ref`", why);
            return None;
        };
        let rules = self.rules.references;
        if rules == References::Inline || !is_plain(&reference) {
            return Some(self.inline(&reference, target, node, at));
        }
        if rules == References::KeepWithoutCircles && self.definitions.is_circular(&reference) {
            let why = format!("`{reference}` leads back to itself");
            self.change(at, ChangeEffect::NotStrict, "`$ref`", why);
        }
        if rules == References::KeepAlone && node.len() > 1 {
            node.shift_remove("$ref");
            let alone = Map::from_iter([("$ref".to_owned(), reference.into())]);
            if node.keys().all(|keyword| is_note(keyword)) {
                let union = Value::from(vec![Value::from(alone)]);
                node.shift_insert(0, "anyOf".to_owned(), union);
            } else {
                let both: Vec<Value> = vec![alone.into(), std::mem::take(node).into()];
                node.insert("allOf".to_owned(), both.into());
            }
        }
        None
    }

    /// What a reference leads to, with what stands beside it, rewritten.
    fn inline(
        &mut self,
        reference: &str,
        target: &Value,
        node: &mut Map<String, Value>,
        at: &Place,
    ) -> Value {
        node.shift_remove("$ref");
        if self.inlined.iter().any(|open| open == reference) {
            let why = "leads back to itself; cut off where it does";
            self.change(at, ChangeEffect::Looser, "`$ref`", why);
            node.retain(|keyword, _| is_note(keyword));
            let kind = target.get("type").filter(|kind| kind.is_string());
            node.insert("type".to_owned(), kind.cloned().unwrap_or("object".into()));
            let name = reference.rsplit('/').next().unwrap_or_default();
            let told = vec![format!("again a {name}, as above")];
            return self.node(std::mem::take(node), at, told);
        }
        let beside = std::mem::take(node);
        let mut joined = match target {
            Value::Object(members) => members.clone(),
            _ => Map::new(),
        };
        if beside.keys().all(|keyword| is_note(keyword)) {
            joined.extend(beside);
        } else {
            let both = vec![Value::from(joined), beside.into()];
            joined = Map::from_iter([("allOf".to_owned(), both.into())]);
        }
        self.inlined.push(reference.to_owned());
        let written = self.schema(&joined.into(), &at.elsewhere(reference));
        self.inlined.pop();
        written
    }
}
