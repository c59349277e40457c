//! Values the host program lends to its tools, found by type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A host value as a tool parameter: `db: Host<Db>`.
///
/// It never appears in the schema. A value that is missing is found before the first
/// model call, with an error that names the type.
pub struct Host<T>(pub Arc<T>);

impl<T> Deref for Host<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for Host<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Host<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host<{}>", type_name::<T>())
    }
}

/// Host values by type; cloning shares them. Each is an `Arc<T>`, so that what is looked up need
/// not be known to be `Send` and `Sync`: what was put in is.
#[derive(Clone, Default)]
pub(crate) struct Hosts {
    values: Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Hosts {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        Arc::make_mut(&mut self.values).insert(TypeId::of::<T>(), Arc::new(Arc::new(value)));
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.values.contains_key(&id)
    }

    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.shared().map(Arc::as_ref)
    }

    pub(crate) fn get_arc<T: 'static>(&self) -> Option<Arc<T>> {
        self.shared().cloned()
    }

    fn shared<T: 'static>(&self) -> Option<&Arc<T>> {
        self.values.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// These values with those of `over` in front.
    pub(crate) fn overridden_by(&self, over: &Self) -> Self {
        if over.values.is_empty() {
            return self.clone();
        }
        let mut values = (*self.values).clone();
        values.extend(
            over.values
                .iter()
                .map(|(id, value)| (*id, Arc::clone(value))),
        );
        Self {
            values: Arc::new(values),
        }
    }
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hosts({} values)", self.values.len())
    }
}
