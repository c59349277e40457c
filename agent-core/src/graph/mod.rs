//! graph.

pub use crate::state::{
    CustomStrategy, KeyStrategies, KeyStrategy, State, StateError, StateKey, StateUpdate,
};
