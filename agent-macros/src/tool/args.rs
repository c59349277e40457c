//! The keys of `#[tool(…)]` and of `#[param(…)]`. The function is not seen here.

use darling::FromMeta;
use darling::ast::NestedMeta;
use darling::util::SpannedValue;
use proc_macro2::TokenStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Meta, Path, Token, Type};

use super::constraints::Constraints;
use super::default::Default;
use super::values;
use crate::diagnostics::err;

/// `#[tool(…)]`.
#[derive(FromMeta)]
pub(super) struct ToolArgs {
    /// What the model calls the tool; else the function's name.
    #[darling(default, with = values::tool_name)]
    pub(super) name: Option<SpannedValue<String>>,
    /// What the model reads about the tool; else the doc comment.
    #[darling(default, with = values::description)]
    pub(super) description: Option<SpannedValue<String>>,
    /// The generated type's name; else the function's.
    #[darling(default, rename = "type", with = values::type_name)]
    pub(super) type_name: Option<Ident>,
    /// The one parameter that the model gives is the whole input.
    #[darling(default, with = values::switch)]
    pub(super) args: Option<bool>,
    /// The tool's output is the run's answer.
    #[darling(default, with = values::switch)]
    pub(super) return_direct: Option<bool>,
    /// How long a call may take, in milliseconds.
    #[darling(default, with = values::timeout)]
    pub(super) timeout: Option<u64>,
    /// What a second call would do.
    #[darling(default, with = values::effect)]
    pub(super) effect: Option<Effect>,
    /// How often a turn may call it.
    #[darling(default, with = values::count)]
    pub(super) max_calls: Option<u32>,
    /// No other call of the turn runs at the same time.
    #[darling(default, with = values::switch)]
    pub(super) sequential: Option<bool>,
    /// A person must approve each call before it runs.
    #[darling(default, with = values::switch)]
    pub(super) approval: Option<bool>,
    /// The compiler checks that the schema can be sent strict.
    #[darling(default, with = values::located_switch)]
    pub(super) strict: Option<SpannedValue<bool>>,
    /// The schema allows properties that it does not name.
    #[darling(default, with = values::located_switch)]
    pub(super) open: Option<SpannedValue<bool>>,
    /// The tool and each argument must have a description.
    #[darling(default, with = values::switch)]
    pub(super) require_docs: Option<bool>,
    /// Every parameter's schema comes from `schemars`.
    #[darling(default, with = values::switch)]
    pub(super) schemars: Option<bool>,
    /// Where `agent-core` is, if not at `::agent_core`.
    #[darling(default, rename = "crate", with = values::root)]
    pub(super) root: Option<Path>,
    /// Whether `ToolSet::registered()` finds the tool; it does by default.
    #[darling(default, with = values::switch)]
    pub(super) register: Option<bool>,
}

impl ToolArgs {
    pub(super) fn parse(tokens: TokenStream) -> darling::Result<Self> {
        values::no_type_arguments(&tokens)?;
        let items = NestedMeta::parse_meta_list(tokens)?;
        let mut errors = darling::Error::accumulator();
        let items = errors.handle(keys_once(items)).unwrap_or_default();
        let args = Self::from_list(&items).map_err(|errors| with_keys(errors, &KEYS_OF_TOOL));
        let args = errors.handle(args);
        errors.finish()?;
        args.ok_or_else(unread)
    }

    /// The keys of a method's `#[tool]`, without those that say something of a type of its own.
    pub(super) fn parse_of_method(tokens: TokenStream) -> darling::Result<Self> {
        let items = NestedMeta::parse_meta_list(tokens.clone())?;
        let mut errors = darling::Error::accumulator();
        for item in &items {
            let NestedMeta::Meta(meta) = item else {
                continue;
            };
            let path = meta.path();
            if path.is_ident("type") {
                errors.push(err!(
                    path,
                    "a method makes no type of its own; leave `type` out"
                ));
            } else if path.is_ident("register") {
                errors.push(err!(
                    path,
                    "a method is never registered, as it needs its object; leave `register` out"
                ));
            } else if path.is_ident("crate") {
                errors.push(err!(
                    path,
                    "`crate` stands at the `impl` block: `#[tool(crate = …)] impl …`"
                ));
            }
        }
        let args = errors.handle(Self::parse(tokens));
        errors.finish()?;
        args.ok_or_else(unread)
    }

    /// What the stub of a faulty tool needs, as far as it can be read.
    pub(super) fn names(tokens: TokenStream) -> (Option<Path>, Option<Ident>) {
        let items = NestedMeta::parse_meta_list(tokens).unwrap_or_default();
        let value = |key: &str| {
            items.iter().find_map(|item| match item {
                NestedMeta::Meta(meta) if meta.path().is_ident(key) => Some(meta),
                _ => None,
            })
        };
        let root = value("crate").and_then(|meta| values::root(meta).ok()?);
        let type_name = value("type").and_then(|meta| values::type_name(meta).ok()?);
        (root, type_name)
    }
}

/// `#[tool(…)]` on an `impl` block.
#[derive(FromMeta)]
pub(super) struct BlockArgs {
    /// Where `agent-core` is, if not at `::agent_core`.
    #[darling(default, rename = "crate", with = values::root)]
    pub(super) root: Option<Path>,
    /// Which of the type's blocks it is, if it is not the first.
    #[darling(default, with = values::block)]
    pub(super) block: Option<SpannedValue<u32>>,
}

impl BlockArgs {
    pub(super) fn parse(tokens: TokenStream) -> darling::Result<Self> {
        let items = NestedMeta::parse_meta_list(tokens)?;
        let mut errors = darling::Error::accumulator();
        let items = errors.handle(keys_once(items)).unwrap_or_default();
        let (own, others): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| match item {
            NestedMeta::Meta(meta) => ["crate", "block"]
                .iter()
                .any(|key| meta.path().is_ident(key)),
            _ => false,
        });
        for item in others {
            errors.push(err!(
                item,
                "an `impl` block takes only `block = 2` and `crate = path`; other keys stand at its methods"
            ));
        }
        let args = errors.handle(Self::from_list(&own));
        errors.finish()?;
        args.ok_or_else(unread)
    }

    /// The keys, as far as they can be read.
    pub(super) fn of_stub(tokens: TokenStream) -> Self {
        let block = NestedMeta::parse_meta_list(tokens.clone()).unwrap_or_default();
        let block = block.iter().find_map(|item| match item {
            NestedMeta::Meta(meta) if meta.path().is_ident("block") => values::block(meta).ok()?,
            _ => None,
        });
        let root = ToolArgs::names(tokens).0;
        Self { root, block }
    }
}

/// `#[param(…)]`; several on one parameter are read as one.
#[derive(FromMeta)]
pub(crate) struct ParamArgs {
    /// What the model reads about the parameter; else its doc comment.
    #[darling(default, with = values::description)]
    pub(crate) description: Option<SpannedValue<String>>,
    /// The property's name; else the parameter's.
    #[darling(default, with = values::parameter_name)]
    pub(crate) rename: Option<SpannedValue<String>>,
    /// The value taken when the model leaves it out.
    #[darling(default, with = Default::parse)]
    pub(crate) default: Option<Default>,
    /// The schema comes from `schemars`.
    #[darling(default, with = values::switch)]
    pub(crate) schemars: Option<bool>,
    /// Whether the model must give it; else its type says.
    #[darling(default, with = values::located_switch)]
    pub(crate) required: Option<SpannedValue<bool>>,
    /// What narrows the values.
    #[darling(flatten)]
    pub(crate) constraints: Constraints,
    /// Fields only: the schema is that of another type.
    #[darling(default, with = values::like)]
    pub(crate) like: Option<Type>,
    /// Fields only: the type leads back to the one that holds the field.
    #[darling(default, with = values::located_switch)]
    pub(crate) recursive: Option<SpannedValue<bool>>,
}

impl ParamArgs {
    pub(crate) fn parse(attributes: &[Attribute]) -> darling::Result<Self> {
        let mut errors = darling::Error::accumulator();
        let items = errors.handle(param_keys(attributes)).unwrap_or_default();
        let args = Self::from_list(&items).map_err(|errors| with_keys(errors, &KEYS_OF_PARAM));
        let args = errors.handle(args);
        errors.finish()?;
        args.ok_or_else(unread)
    }

    /// Refuses, on a tool's parameter, the keys that only a field can have.
    pub(super) fn fields_only(&self) -> darling::Result<()> {
        let like = self.like.as_ref().map(Spanned::span);
        let recursive = self.recursive.as_ref().map(SpannedValue::span);
        match like.or(recursive) {
            Some(key) => Err(err!(
                key,
                "`like` and `recursive` are for the fields of a type with `#[derive(ToolSchema)]`; a parameter's type speaks for itself"
            )),
            None => Ok(()),
        }
    }
}

/// The keys of all `#[param(…)]` among the attributes, each once.
pub(crate) fn param_keys(attributes: &[Attribute]) -> darling::Result<Vec<NestedMeta>> {
    let mut errors = darling::Error::accumulator();
    let mut items = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("param") {
            items.extend(errors.handle(keys(&attribute.meta)).unwrap_or_default());
        }
    }
    let items = errors.handle(keys_once(items)).unwrap_or_default();
    errors.finish_with(items)
}

/// The items if each is a key, and each key is there once.
fn keys_once(items: Vec<NestedMeta>) -> darling::Result<Vec<NestedMeta>> {
    let mut errors = darling::Error::accumulator();
    let mut seen: Vec<&Path> = Vec::new();
    for item in &items {
        match item {
            NestedMeta::Lit(value) => errors.push(err!(
                value,
                "a value needs its key in front: `description = \"…\"`"
            )),
            NestedMeta::Meta(meta) if seen.contains(&meta.path()) => {
                let key = meta.path().get_ident().map(ToString::to_string);
                let key = key.unwrap_or_default();
                errors.push(err!(meta, "`{key}` is given twice"));
            }
            NestedMeta::Meta(meta) => seen.push(meta.path()),
            NestedMeta::NameValueInvalidExpr(_) => {}
        }
    }
    errors.finish_with(items)
}

/// What `#[tool(…)]` on a function takes, for messages; a test compares it with [`ToolArgs`].
pub(super) const KEYS_OF_TOOL: [&str; 16] = [
    "name",
    "description",
    "type",
    "args",
    "return_direct",
    "timeout",
    "effect",
    "max_calls",
    "sequential",
    "approval",
    "strict",
    "open",
    "require_docs",
    "schemars",
    "crate",
    "register",
];

/// What `#[param(…)]` takes, for messages; a test compares it with [`ParamArgs`].
pub(super) const KEYS_OF_PARAM: [&str; 17] = [
    "description",
    "rename",
    "default",
    "required",
    "example",
    "minimum",
    "maximum",
    "exclusive_minimum",
    "exclusive_maximum",
    "min_length",
    "max_length",
    "min_items",
    "max_items",
    "pattern",
    "schemars",
    "like",
    "recursive",
];

/// Names the keys there are, where none is near to the one that was written: of more than a
/// few, darling does not.
fn with_keys(errors: darling::Error, keys: &[&str]) -> darling::Error {
    let unknown = |key: &str| format!("Unknown field: `{key}`");
    let told = errors.flatten().into_iter().map(|error| {
        let text = error.to_string();
        let key = text.split('`').nth(1).unwrap_or_default();
        if text != unknown(key) {
            return error;
        }
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        err!(error.span(), "{text}. There are {}", keys.join(", "))
    });
    darling::Error::multiple(told.collect())
}

// Never shown: without a value there are errors, and they are shown.
fn unread() -> darling::Error {
    err!(proc_macro2::Span::call_site(), "the keys cannot be read")
}

fn keys(meta: &Meta) -> darling::Result<Vec<NestedMeta>> {
    match meta {
        // By way of the list, so that what is missing at its end is missed there.
        Meta::List(list) => {
            let keys = list.parse_args_with(Punctuated::<_, Token![,]>::parse_terminated)?;
            Ok(keys.into_iter().collect())
        }
        other => Err(err!(
            other,
            "`#[param]` takes its keys in parentheses: `#[param(rename = \"…\")]`"
        )),
    }
}

/// What a second call of a tool would do.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    Pure,
    Idempotent,
    Once,
}
