//! Default values of parameters: as an expression, and as the JSON a schema can show.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprLit, ExprUnary, Lit, LitStr, Meta, UnOp};

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

    /// The value as JSON text, if it is a literal.
    pub(crate) fn json(&self) -> Option<String> {
        match self {
            Self::OfType => None,
            Self::Text(text) => Some(quoted(&text.value())),
            Self::Value(Expr::Lit(value)) => literal(&value.lit),
            Self::Value(Expr::Unary(ExprUnary {
                op: UnOp::Neg(_),
                expr,
                ..
            })) => match &**expr {
                Expr::Lit(ExprLit {
                    lit: lit @ (Lit::Int(_) | Lit::Float(_)),
                    ..
                }) => literal(lit).map(|number| format!("-{number}")),
                _ => None,
            },
            Self::Value(_) => None,
        }
    }
}

fn literal(literal: &Lit) -> Option<String> {
    match literal {
        Lit::Bool(value) => Some(value.value.to_string()),
        Lit::Int(value) => Some(value.base10_digits().to_owned()),
        Lit::Float(value) => {
            let digits = value.base10_digits();
            // Rust reads `1.`, JSON does not.
            let zero = if digits.ends_with('.') { "0" } else { "" };
            Some(format!("{digits}{zero}"))
        }
        Lit::Char(value) => Some(quoted(&value.value().to_string())),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if control < ' ' => {
                json.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
