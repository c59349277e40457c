//! Conditional edges: a router chooses one of the routes that were declared.

use std::fmt;
use std::sync::Arc;

use super::State;
use crate::boxed::BoxError;

/// One way a conditional edge can lead: what the router says, and the node that follows.
///
/// A target alone is a route of the same name; a pair is `(what the router says, target)`.
///
/// ```
/// use agent_core::graph::{END, Route};
///
/// assert_eq!(Route::from("search"), Route::from(("search", "search")));
/// let done = Route::from(("done", END));
/// assert_eq!((done.name(), done.target()), ("done", END));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    name: String,
    target: String,
}

impl Route {
    /// What the router says to take this route.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The node, or [`END`](super::END), the route leads to.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }
}

impl From<&str> for Route {
    fn from(target: &str) -> Self {
        Self::from((target, target))
    }
}

impl From<String> for Route {
    fn from(target: String) -> Self {
        Self::from((target.clone(), target))
    }
}

impl<N: Into<String>, T: Into<String>> From<(N, T)> for Route {
    fn from((name, target): (N, T)) -> Self {
        Self {
            name: name.into(),
            target: target.into(),
        }
    }
}

/// What a router may return: the name of a route, a list of names for branches that run side by
/// side, or a `Result` of these.
#[diagnostic::on_unimplemented(
    note = "a router returns the name of a route, as `&'static str` or `String`, a list of names, or a `Result` of these"
)]
pub trait IntoRoute {
    /// The names of the routes; several are branches, in this order.
    ///
    /// # Errors
    ///
    /// What kept the router from choosing; it ends the run.
    fn into_routes(self) -> Result<Vec<String>, BoxError>;
}

impl IntoRoute for &'static str {
    fn into_routes(self) -> Result<Vec<String>, BoxError> {
        Ok(vec![self.to_owned()])
    }
}

impl IntoRoute for String {
    fn into_routes(self) -> Result<Vec<String>, BoxError> {
        Ok(vec![self])
    }
}

impl<R: IntoRoute> IntoRoute for Vec<R> {
    fn into_routes(self) -> Result<Vec<String>, BoxError> {
        let mut routes = Vec::with_capacity(self.len());
        for route in self {
            routes.extend(route.into_routes()?);
        }
        Ok(routes)
    }
}

impl<R: IntoRoute, const N: usize> IntoRoute for [R; N] {
    fn into_routes(self) -> Result<Vec<String>, BoxError> {
        Vec::from(self).into_routes()
    }
}

impl<R: IntoRoute, E: Into<BoxError>> IntoRoute for Result<R, E> {
    fn into_routes(self) -> Result<Vec<String>, BoxError> {
        self.map_err(Into::into)?.into_routes()
    }
}

/// The function behind a conditional edge.
#[derive(Clone)]
pub(super) enum Router {
    /// It names them.
    ByName(Arc<ByName>),
    /// It gives the position of one.
    ByPosition(Arc<ByPosition>),
}

type ByPosition = dyn Fn(&State) -> usize + Send + Sync;
type ByName = dyn Fn(&State) -> Result<Vec<String>, BoxError> + Send + Sync;

impl Router {
    pub(super) fn new<R: IntoRoute>(choose: impl Fn(&State) -> R + Send + Sync + 'static) -> Self {
        Self::ByName(Arc::new(move |state| choose(state).into_routes()))
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Router(..)")
    }
}
