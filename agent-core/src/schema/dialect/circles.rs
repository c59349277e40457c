//! Which references lead back to themselves.

use std::collections::{HashMap, HashSet};
use std::vec;

use serde_json::Value;

use super::refs::Definitions;

/// The references inside the schema that lead back to themselves.
///
/// Each is followed once, and none by a call of its own: a schema from elsewhere may hold a chain of
/// thousands. (The algorithm is Tarjan's, for the strongly connected components of a graph.)
pub(super) fn circles<'a>(root: &'a Value, definitions: &Definitions<'a>) -> HashSet<&'a str> {
    let mut walk = Walk {
        definitions,
        numbers: HashMap::new(),
        open: Vec::new(),
        line: Vec::new(),
        circles: HashSet::new(),
    };
    for reference in inside(root) {
        if !walk.numbers.contains_key(reference) {
            walk.begin(reference);
            walk.follow();
        }
    }
    walk.circles
}

struct Walk<'a, 'd> {
    definitions: &'d Definitions<'a>,
    /// In which order they were met; [`LEFT`] for those that are done with.
    numbers: HashMap<&'a str, usize>,
    /// Those that are being followed, each found behind the one before.
    open: Vec<Open<'a>>,
    /// Those that may still turn out to lead back to one that is open.
    line: Vec<&'a str>,
    circles: HashSet<&'a str>,
}

const LEFT: usize = usize::MAX;

struct Open<'a> {
    reference: &'a str,
    number: usize,
    /// The first of those it leads back to.
    first: usize,
    /// Its place in the line.
    place: usize,
    next: vec::IntoIter<&'a str>,
}

impl<'a> Walk<'a, '_> {
    fn begin(&mut self, reference: &'a str) {
        let number = self.numbers.len();
        self.numbers.insert(reference, number);
        let target = self.definitions.get(reference);
        self.open.push(Open {
            reference,
            number,
            first: number,
            place: self.line.len(),
            next: target.map(inside).unwrap_or_default().into_iter(),
        });
        self.line.push(reference);
    }

    fn follow(&mut self) {
        while let Some(open) = self.open.last_mut() {
            let Some(next) = open.next.next() else {
                self.end();
                continue;
            };
            if next == open.reference {
                self.circles.insert(next);
            }
            match self.numbers.get(next) {
                Some(number) => open.first = open.first.min(*number),
                None => self.begin(next),
            }
        }
    }

    /// Ends the innermost that is open.
    fn end(&mut self) {
        let Some(done) = self.open.pop() else {
            return;
        };
        if let Some(outer) = self.open.last_mut() {
            outer.first = outer.first.min(done.first);
        }
        if done.first < done.number {
            return;
        }
        // All that were met behind it, and lead back to it.
        let circle = self.line.split_off(done.place);
        for reference in &circle {
            self.numbers.insert(reference, LEFT);
        }
        if circle.len() > 1 {
            self.circles.extend(circle);
        }
    }
}

/// The references at all places of a value.
fn inside(value: &Value) -> Vec<&str> {
    let mut references = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                references.extend(members.get("$ref").and_then(Value::as_str));
                open.extend(members.values());
            }
            _ => {}
        }
    }
    references
}
