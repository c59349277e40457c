//! Objects put together of several schemas: flattened fields, and tags beside a struct.
//!
//! A part can be a choice of objects; the whole is then a choice of every combination, each
//! written out, as `allOf` of closed objects would refuse everything.

use super::{Members, Schema, Writer};

impl Writer<'_> {
    /// The keywords of an object with the members of all parts.
    pub(super) const fn joined(&mut self, schema: &Schema, nullable: bool) {
        let count = schema.combinations();
        if count == 1 {
            return self.combination(schema, 0, nullable);
        }
        let pending = self.pending;
        self.pending = false;
        self.raw("\"anyOf\":[");
        let mut choice = 0;
        while choice < count {
            if choice > 0 {
                self.byte(b',');
            }
            self.byte(b'{');
            self.combination(schema, choice, false);
            self.byte(b'}');
            choice += 1;
        }
        self.raw(if nullable {
            ",{\"type\":\"null\"}]"
        } else {
            "]"
        });
        self.pending = pending;
    }

    const fn combination(&mut self, schema: &Schema, choice: usize, nullable: bool) {
        self.kind("object", nullable);
        self.raw(",\"properties\":{");
        self.members(schema, choice, &mut Members::new(), Pass::Properties);
        self.raw("},\"required\":[");
        self.members(schema, choice, &mut Members::new(), Pass::Required);
        self.raw("]");
        match schema.rest(choice) {
            None => self.raw(",\"additionalProperties\":false"),
            // Absent means any, too, and an open object is one by its shorter form.
            Some(Schema::Any) => {}
            Some(rest) => {
                self.raw(",\"additionalProperties\":");
                self.schema(rest);
            }
        }
    }

    const fn members(&mut self, schema: &Schema, choice: usize, members: &mut Members, pass: Pass) {
        match schema {
            Schema::Object(properties) => {
                let mut index = 0;
                while index < properties.len() {
                    match pass {
                        Pass::Properties => members.property(self, &properties[index]),
                        Pass::Required => members.required(self, &properties[index]),
                        Pass::NoneRequired => {}
                    }
                    index += 1;
                }
            }
            Schema::Described(_, inner) => self.members(inner, choice, members, pass),
            Schema::Nullable(inner) => {
                let pass = match pass {
                    Pass::Properties => Pass::Properties,
                    Pass::Required | Pass::NoneRequired => Pass::NoneRequired,
                };
                self.members(inner, choice, members, pass);
            }
            Schema::Def(name, body) => {
                let scope = self.scope;
                if let Some(index) = self.definitions.find(name, body, scope) {
                    self.scope = index;
                }
                self.members(body, choice, members, pass);
                self.scope = scope;
            }
            Schema::AnyOf(branches) => {
                let (branch, choice) = branch(branches, choice);
                self.members(&branches[branch], choice, members, pass);
            }
            Schema::Joined(parts) => {
                let mut rest = choice;
                let mut index = 0;
                while index < parts.len() {
                    let count = parts[index].combinations();
                    self.members(&parts[index], rest % count, members, pass);
                    rest /= count;
                    index += 1;
                }
            }
            _ => {}
        }
    }
}

#[derive(Clone, Copy)]
enum Pass {
    Properties,
    Required,
    NoneRequired,
}

impl Schema {
    /// How many different objects it can be.
    const fn combinations(&self) -> usize {
        match self {
            Self::Nullable(inner) | Self::Described(_, inner) | Self::Def(_, inner) => {
                inner.combinations()
            }
            Self::AnyOf(branches) => {
                let mut sum = 0;
                let mut index = 0;
                while index < branches.len() {
                    sum += branches[index].combinations();
                    index += 1;
                }
                if sum == 0 { 1 } else { sum }
            }
            Self::Joined(parts) => {
                let mut product = 1;
                let mut index = 0;
                while index < parts.len() {
                    product *= parts[index].combinations();
                    index += 1;
                }
                product
            }
            _ => 1,
        }
    }

    /// What members beyond the named ones hold; `None` if there may be no others.
    const fn rest(&self, choice: usize) -> Option<&'static Self> {
        match self {
            Self::Map(values) => Some(values),
            Self::Nullable(inner) | Self::Described(_, inner) | Self::Def(_, inner) => {
                inner.rest(choice)
            }
            Self::AnyOf(branches) if !branches.is_empty() => {
                let (branch, choice) = branch(branches, choice);
                branches[branch].rest(choice)
            }
            Self::Joined(parts) => {
                let mut choices = choice;
                let mut index = 0;
                while index < parts.len() {
                    let count = parts[index].combinations();
                    if let Some(rest) = parts[index].rest(choices % count) {
                        return Some(rest);
                    }
                    choices /= count;
                    index += 1;
                }
                None
            }
            _ => None,
        }
    }
}

/// The branch that holds the choice, and the choice within it; the last one has the rest.
const fn branch(branches: &[Schema], mut choice: usize) -> (usize, usize) {
    let mut index = 0;
    while index + 1 < branches.len() {
        let count = branches[index].combinations();
        if choice < count {
            break;
        }
        choice -= count;
        index += 1;
    }
    (index, choice)
}
