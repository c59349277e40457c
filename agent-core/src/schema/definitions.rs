//! The recursive types in a schema: each stands once in `$defs`, under a name of its own.

use super::same::{same, same_text};
use super::{Schema, Writer};

/// The most recursive types in one text; a further one is written as any value.
const LIMIT: usize = 32;

/// Where a schema stands that is in no definition.
pub(super) const OUTSIDE: usize = usize::MAX;

/// The definitions of one text, in the order in which they are met.
pub(super) struct Definitions {
    all: [Option<Definition>; LIMIT],
    count: usize,
}

/// A recursive type. Of several with one name the second is called `Name_2`.
#[derive(Clone, Copy)]
struct Definition {
    name: &'static str,
    number: usize,
    body: &'static Schema,
    /// The definition it stands in, to which its references may lead.
    outer: usize,
}

impl Definitions {
    pub(super) const fn new() -> Self {
        Self {
            all: [None; LIMIT],
            count: 0,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes in the recursive types of a schema that stands in the definition `outer`.
    pub(super) const fn gather(&mut self, schema: &Schema, mut outer: usize) {
        if let Schema::Def(name, body) = schema {
            if self.find(name, body, outer).is_some() || self.count == LIMIT {
                return;
            }
            let mut number = 1;
            while self.is_taken(name, number) {
                number += 1;
            }
            self.all[self.count] = Some(Definition {
                name,
                number,
                body,
                outer,
            });
            outer = self.count;
            self.count += 1;
        }
        let mut index = 0;
        while let Some(child) = schema.child(index) {
            self.gather(child, outer);
            index += 1;
        }
    }

    /// The definition of this type, if a schema that stands in `outer` names it.
    pub(super) const fn find(&self, name: &str, body: &Schema, outer: usize) -> Option<usize> {
        let mut index = 0;
        while index < self.count {
            if let Some(definition) = self.all[index]
                && same_text(definition.name, name)
                && (definition.outer == outer || is_closed(body, &Names::new(name)))
                && same(definition.body, body)
            {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// The definition of that name around the definition `scope`, or itself.
    pub(super) const fn enclosing(&self, name: &str, mut scope: usize) -> Option<usize> {
        while scope < self.count {
            let Some(definition) = self.all[scope] else {
                return None;
            };
            if same_text(definition.name, name) {
                return Some(scope);
            }
            scope = definition.outer;
        }
        None
    }

    const fn is_taken(&self, name: &str, number: usize) -> bool {
        let mut index = 0;
        while index < self.count {
            if let Some(other) = self.all[index]
                && same_label((other.name, other.number), (name, number))
            {
                return true;
            }
            index += 1;
        }
        false
    }
}

impl Writer<'_> {
    /// Takes in the recursive types of a schema that is about to be written.
    pub(crate) const fn gather(&mut self, schema: &Schema) {
        self.definitions.gather(schema, self.scope);
    }

    /// Takes in a recursive type; what is written from now on stands in it.
    pub(super) fn enter(&mut self, definition: &Schema) {
        self.gather(definition);
        if let Schema::Def(name, body) = definition {
            self.scope = self
                .definitions
                .find(name, body, self.scope)
                .unwrap_or(OUTSIDE);
        }
    }

    /// `,"$defs":{…}`, if there are any.
    pub(crate) const fn definitions(&mut self) {
        if !self.definitions.is_empty() {
            self.raw(",\"$defs\":");
            self.definitions_object();
        }
    }

    /// The members of `$defs`.
    pub(crate) const fn definitions_object(&mut self) {
        let scope = self.scope;
        self.byte(b'{');
        let mut index = 0;
        while index < self.definitions.count {
            if let Some(definition) = self.definitions.all[index] {
                if index > 0 {
                    self.byte(b',');
                }
                self.byte(b'"');
                self.label(definition);
                self.raw("\":");
                self.scope = index;
                self.schema(definition.body);
            }
            index += 1;
        }
        self.byte(b'}');
        self.scope = scope;
    }

    /// `"$ref":"#/$defs/Name"`; nothing, which means any value, without a definition.
    pub(super) const fn reference(&mut self, index: Option<usize>, nullable: bool) {
        let Some(index) = index else {
            return;
        };
        let Some(definition) = self.definitions.all[index] else {
            return;
        };
        self.raw(if nullable { "\"anyOf\":[{" } else { "" });
        self.raw("\"$ref\":\"#/$defs/");
        self.label(definition);
        self.raw(if nullable {
            "\"},{\"type\":\"null\"}]"
        } else {
            "\""
        });
    }

    const fn label(&mut self, definition: Definition) {
        self.raw(definition.name);
        if definition.number > 1 {
            self.byte(b'_');
            self.integer(definition.number as i64);
        }
    }
}

/// The names of the definitions around a place.
struct Names<'a> {
    name: &'a str,
    outer: Option<&'a Names<'a>>,
}

impl<'a> Names<'a> {
    const fn new(name: &'a str) -> Self {
        Self { name, outer: None }
    }

    const fn has(&self, name: &str) -> bool {
        if same_text(self.name, name) {
            return true;
        }
        match self.outer {
            Some(outer) => outer.has(name),
            None => false,
        }
    }
}

/// True if all references lead to definitions around them within the schema.
const fn is_closed(schema: &Schema, names: &Names<'_>) -> bool {
    match schema {
        Schema::Ref(name) => names.has(name),
        Schema::Def(name, body) => is_closed(
            body,
            &Names {
                name,
                outer: Some(names),
            },
        ),
        schema => {
            let mut index = 0;
            while let Some(child) = schema.child(index) {
                if !is_closed(child, names) {
                    return false;
                }
                index += 1;
            }
            true
        }
    }
}

/// True if two names with their numbers are written alike.
const fn same_label(left: (&str, usize), right: (&str, usize)) -> bool {
    let mut index = 0;
    loop {
        match (label_byte(left, index), label_byte(right, index)) {
            (None, None) => return true,
            (Some(left), Some(right)) if left == right => index += 1,
            _ => return false,
        }
    }
}

const fn label_byte((name, number): (&str, usize), index: usize) -> Option<u8> {
    if index < name.len() {
        return Some(name.as_bytes()[index]);
    }
    // A number is less than 100, as it counts definitions.
    let digits = [b'_', b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
    match index - name.len() {
        _ if number < 2 => None,
        0 => Some(digits[0]),
        1 if number >= 10 => Some(digits[1]),
        1 => Some(digits[2]),
        2 if number >= 10 => Some(digits[2]),
        _ => None,
    }
}
