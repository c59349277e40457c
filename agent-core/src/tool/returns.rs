//! The schema of a tool's return type, if it has one: asked of the concrete type, where a
//! constant of the type itself is found before that of a trait.
//!
//! ```
//! # use agent_core::__private as P;
//! #[allow(unused_imports)]
//! use P::returns::*;
//!
//! type Pair = Result<(u8, bool), std::fmt::Error>;
//! const SCHEMA: Option<&P::Schema> = P::Returns::<Pair>::__AGENT_SCHEMA;
//! assert!(SCHEMA.is_some());
//! assert!(P::Returns::<std::time::Instant>::__AGENT_SCHEMA.is_none());
//! ```

use std::marker::PhantomData;

use super::Json;
use crate::schema::{Schema, ToolSchema};

/// Stands for a return type.
#[derive(Debug)]
pub struct Returns<T: ?Sized>(PhantomData<fn(&T)>);

/// The schema of any type: none.
pub trait ReturnsAny {
    /// The schema.
    const __AGENT_SCHEMA: Option<&'static Schema> = None;
}

impl<T: ?Sized> ReturnsAny for Returns<T> {}

macro_rules! returns {
    ($([$($generic:ident),*] $type:ty;)*) => {$(
        impl<T: ToolSchema $(, $generic)*> Returns<$type> {
            /// The schema.
            pub const __AGENT_SCHEMA: Option<&'static Schema> = of_value(&T::SCHEMA);
        }
    )*};
}

returns! {
    [] T;
    [E] Result<T, E>;
    [] Json<T>;
    [] Option<Json<T>>;
    [E] Result<Json<T>, E>;
    [E] Result<Option<Json<T>>, E>;
}

/// The schema of what a program reads as the output's value; text has none.
const fn of_value(schema: &'static Schema) -> Option<&'static Schema> {
    match plain(schema) {
        Schema::Null
        | Schema::String { .. }
        | Schema::Format(_)
        | Schema::Base64
        | Schema::Enum(_) => None,
        _ => Some(schema),
    }
}

const fn plain(schema: &'static Schema) -> &'static Schema {
    match schema {
        Schema::Nullable(inner) | Schema::Described(_, inner) | Schema::Def(_, inner) => {
            plain(inner)
        }
        other => other,
    }
}
