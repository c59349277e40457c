//! The keys of `#[param(…)]` on a type. Those on a field are a parameter's.

use darling::FromMeta;
use darling::ast::NestedMeta;
use darling::util::SpannedValue;
use syn::{Attribute, Path};

use crate::diagnostics::err;
use crate::tool::args::param_keys;
use crate::tool::values;

/// `#[param(…)]` on a type.
#[derive(FromMeta)]
pub(super) struct TypeArgs {
    /// What the model reads about the type; else its doc comment.
    #[darling(default, with = values::description)]
    pub(super) description: Option<SpannedValue<String>>,
    /// Members the schema does not name are allowed.
    #[darling(default, with = values::located_switch)]
    pub(super) open: Option<SpannedValue<bool>>,
    /// Where `agent-core` is, if not at `::agent_core`.
    #[darling(default, rename = "crate", with = values::root)]
    pub(super) root: Option<Path>,
}

impl TypeArgs {
    pub(super) fn parse(attributes: &[Attribute]) -> darling::Result<Self> {
        Self::from_list(&param_keys(attributes)?)
    }

    /// The key `crate` alone, for the stub of a faulty type.
    pub(super) fn root_of(attributes: &[Attribute]) -> Option<Path> {
        let keys = param_keys(attributes).ok()?;
        keys.iter().find_map(|key| match key {
            NestedMeta::Meta(meta) if meta.path().is_ident("crate") => values::root(meta).ok()?,
            _ => None,
        })
    }
}

/// Refuses, among the keys of `#[param(…)]`, all but the allowed ones; `say` goes on after
/// the key and says why.
pub(super) fn only(attributes: &[Attribute], allowed: &[&str], say: &str) -> darling::Result<()> {
    let mut errors = darling::Error::accumulator();
    for key in errors.handle(param_keys(attributes)).unwrap_or_default() {
        if let NestedMeta::Meta(meta) = key
            && let Some(key) = meta.path().get_ident()
            && !allowed.contains(&key.to_string().as_str())
        {
            errors.push(err!(key, "`{key}` {say}"));
        }
    }
    errors.finish()
}
