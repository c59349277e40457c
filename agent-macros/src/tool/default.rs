//! Default values of parameters: as an expression, and as the JSON a schema can show.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, LitStr, Meta};

use super::literal::Literal;
use super::values;
use crate::diagnostics::err;

/// `default` or `default = expr`.
#[derive(Clone)]
pub(crate) enum Default {
    /// The type's own.
    OfType,
    /// A string, taken as a `String`.
    Text(LitStr),
    Value(Expr),
}

impl Default {
    pub(super) fn parse(meta: &Meta) -> darling::Result<Option<Self>> {
        let text = |value: &Expr| match value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Self::Text(text.clone()),
            value => Self::Value(value.clone()),
        };
        match (meta, values::value(meta)) {
            (Meta::Path(_), _) => Ok(Some(Self::OfType)),
            (_, Some(value)) => Ok(Some(text(value))),
            _ => Err(err!(meta, "write `default` or `default = value`")),
        }
    }

    /// The expression that makes the value.
    pub(super) fn expression(&self) -> TokenStream {
        match self {
            Self::OfType => {
                quote_spanned! {Span::mixed_site()=> ::core::default::Default::default() }
            }
            // All of it at the literal, where a parameter that is no text shows as an error.
            Self::Text(text) => {
                let site = Span::mixed_site().located_at(text.span());
                quote_spanned! {site=> ::std::borrow::ToOwned::to_owned(#text) }
            }
            Self::Value(value) => value.to_token_stream(),
        }
    }

    /// The value and its place, if it is a literal.
    pub(super) fn literal(&self) -> Option<(Literal, Span)> {
        match self {
            Self::OfType => None,
            Self::Text(text) => Some((Literal::Text(text.value()), text.span())),
            // A list of literals is an array in Rust, and seldom what the parameter is.
            Self::Value(Expr::Array(_)) => None,
            Self::Value(value) => Literal::of(value).map(|literal| (literal, value.span())),
        }
    }

    /// The value as JSON text, if it is a literal.
    pub(crate) fn json(&self) -> Option<String> {
        self.literal().map(|(literal, _)| literal.to_string())
    }
}
