//! serde's attributes, as far as they say what is read.
//!
//! What serde itself refuses (a broken attribute, a case it does not know) is left to it,
//! so that the user hears of it once.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Token};

use super::case::Case;
use crate::diagnostics::err;

/// What `#[serde(…)]` stands on.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Type,
    Variant,
    Field,
}

/// The keys in all `#[serde(…)]` of one item.
pub(super) struct SerdeArgs(Vec<Meta>);

impl SerdeArgs {
    /// The attributes of an item, and the keys among them that we cannot honour there.
    pub(super) fn read(attributes: &[Attribute], place: Place) -> darling::Result<Self> {
        let keys = Punctuated::<Meta, Token![,]>::parse_terminated;
        let args: Vec<Meta> = attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("serde"))
            .filter_map(|attribute| attribute.parse_args_with(keys).ok())
            .flatten()
            .collect();
        let mut errors = darling::Error::accumulator();
        for meta in &args {
            let key = key(meta);
            if let Some(way_out) = refused(&key, place) {
                errors.push(err!(
                    meta.path(),
                    "`#[serde({key})]` is not supported here: {way_out}"
                ));
            }
        }
        errors.finish_with(Self(args))
    }

    /// Where the key stands, if it is there.
    pub(super) fn span(&self, key: &str) -> Option<Span> {
        self.find(key).map(|meta| meta.path().span())
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// The text of `key = "…"` or of `key(deserialize = "…")`.
    pub(super) fn text(&self, key: &str) -> Option<LitStr> {
        let metas = self.0.iter().filter(|meta| meta.path().is_ident(key));
        metas.filter_map(text).next_back()
    }

    /// Where serde is told of a function that reads the value.
    pub(super) fn reads_itself(&self) -> Option<Span> {
        self.span("with").or_else(|| self.span("deserialize_with"))
    }

    pub(super) fn case(&self, key: &str) -> Option<Case> {
        Case::named(&self.text(key)?.value())
    }

    fn find(&self, key: &str) -> Option<&Meta> {
        self.0.iter().find(|meta| meta.path().is_ident(key))
    }
}

fn text(meta: &Meta) -> Option<LitStr> {
    match meta {
        Meta::Path(_) => None,
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.clone()),
            _ => None,
        },
        Meta::List(list) => {
            let keys = Punctuated::<Meta, Token![,]>::parse_terminated;
            let inner = list.parse_args_with(keys).ok()?;
            let read = inner
                .iter()
                .find(|meta| meta.path().is_ident("deserialize"));
            read.and_then(text)
        }
    }
}

fn key(meta: &Meta) -> String {
    let ident = meta.path().get_ident();
    ident.map(ToString::to_string).unwrap_or_default()
}

/// What to do instead of a key we do not honour; `None` if we do, or if it says nothing
/// about what is read.
fn refused(key: &str, place: Place) -> Option<&'static str> {
    const HAND_WRITTEN: &str =
        "implement `ToolSchema` by hand, or use `#[param(schemars)]` where the type is used";
    let honoured: &[&str] = match place {
        Place::Type => &[
            "rename",
            "rename_all",
            "rename_all_fields",
            "deny_unknown_fields",
            "tag",
            "content",
            "untagged",
            "bound",
            "default",
            "transparent",
            "from",
            "try_from",
            "into",
            "crate",
            "expecting",
        ],
        Place::Variant => &[
            "rename",
            "alias",
            "rename_all",
            "skip",
            "skip_serializing",
            "skip_deserializing",
            "serialize_with",
            "deserialize_with",
            "with",
            "bound",
            "borrow",
            "other",
            "untagged",
        ],
        Place::Field => &[
            "rename",
            "alias",
            "default",
            "flatten",
            "skip",
            "skip_serializing",
            "skip_deserializing",
            "skip_serializing_if",
            "serialize_with",
            "deserialize_with",
            "with",
            "borrow",
            "bound",
            "getter",
        ],
    };
    (!honoured.contains(&key)).then_some(HAND_WRITTEN)
}
