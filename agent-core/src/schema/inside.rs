//! What stands inside a schema.

use super::Schema;

impl Schema {
    /// The schema at that place directly inside; `None` from the last one on.
    pub(crate) const fn child(&self, index: usize) -> Option<&'static Self> {
        match self {
            Self::Array { items: inner, .. }
            | Self::Map(inner)
            | Self::Nullable(inner)
            | Self::Described(_, inner)
            | Self::Def(_, inner)
                if index == 0 =>
            {
                Some(inner)
            }
            Self::Tuple(places) if index < places.len() => Some(places[index]),
            Self::Object(properties) if index < properties.len() => Some(properties[index].schema),
            Self::AnyOf(parts) | Self::Joined(parts) if index < parts.len() => Some(&parts[index]),
            _ => None,
        }
    }

    /// True if the text can be written at compile time: nothing inside is asked for at run
    /// time.
    #[must_use]
    pub const fn is_const(&self) -> bool {
        if matches!(self, Self::Schemars(_) | Self::Recursive(_)) {
            return false;
        }
        let mut index = 0;
        while let Some(child) = self.child(index) {
            if !child.is_const() {
                return false;
            }
            index += 1;
        }
        true
    }

    /// What is told about the schema itself.
    pub(crate) const fn description(&self) -> Option<&'static str> {
        match self {
            Self::Described(description, _) => Some(description),
            Self::Nullable(inner) => inner.description(),
            _ => None,
        }
    }

    /// True if objects of it may have a member of this name by its own name.
    pub(crate) fn may_name(&self, name: &str) -> bool {
        match self {
            Self::Object(properties) => properties.iter().any(|it| it.name == name),
            Self::Nullable(inner) | Self::Described(_, inner) | Self::Def(_, inner) => {
                inner.may_name(name)
            }
            Self::AnyOf(parts) | Self::Joined(parts) => parts.iter().any(|it| it.may_name(name)),
            Self::Ref(_) | Self::Recursive(_) | Self::Schemars(_) => true,
            _ => false,
        }
    }

    /// True if it says which members an object has, so that it can be [`Joined`](Self::Joined)
    /// with others.
    pub(crate) const fn is_members(&self) -> bool {
        match self {
            Self::Object(_) | Self::Map(_) | Self::Null => true,
            Self::Nullable(inner) | Self::Described(_, inner) | Self::Def(_, inner) => {
                inner.is_members()
            }
            Self::AnyOf(_) | Self::Joined(_) => {
                let mut index = 0;
                while let Some(child) = self.child(index) {
                    if !child.is_members() {
                        return false;
                    }
                    index += 1;
                }
                true
            }
            _ => false,
        }
    }
}
