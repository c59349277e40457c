//! The values of single keys: each function takes one form and says which when it is another.

use darling::util::SpannedValue;
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Ident, Lit, Meta, Path, Type};

use super::args::Effect;
use super::names;
use crate::diagnostics::err;

pub(crate) fn text(meta: &Meta) -> darling::Result<Option<SpannedValue<String>>> {
    match value(meta) {
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        })) => Ok(Some(SpannedValue::new(text.value(), text.span()))),
        _ => Err(wrong(meta, "a string literal")),
    }
}

/// What a model is to read.
pub(crate) fn description(meta: &Meta) -> darling::Result<Option<SpannedValue<String>>> {
    let text = text(meta)?;
    match &text {
        Some(text) if text.trim().is_empty() => Err(err!(
            text.span(),
            "a description tells the model something; write it, or leave `description` out"
        )),
        _ => Ok(text),
    }
}

/// The name of a tool, checked here so that it is told beside the other keys' faults.
pub(super) fn tool_name(meta: &Meta) -> darling::Result<Option<SpannedValue<String>>> {
    let name = text(meta)?;
    name.as_ref().map_or(Ok(()), names::tool)?;
    Ok(name)
}

/// The name of a parameter, checked as in [`tool_name`].
pub(super) fn parameter_name(meta: &Meta) -> darling::Result<Option<SpannedValue<String>>> {
    let name = text(meta)?;
    name.as_ref().map_or(Ok(()), names::parameter)?;
    Ok(name)
}

pub(crate) fn switch(meta: &Meta) -> darling::Result<Option<bool>> {
    match (meta, value(meta)) {
        (Meta::Path(_), _) => Ok(Some(true)),
        (
            _,
            Some(Expr::Lit(ExprLit {
                lit: Lit::Bool(on), ..
            })),
        ) => Ok(Some(on.value)),
        _ => Err(wrong(meta, "`true` or `false`")),
    }
}

/// A switch that knows where its key stands.
pub(crate) fn located_switch(meta: &Meta) -> darling::Result<Option<SpannedValue<bool>>> {
    let on = switch(meta)?;
    Ok(on.map(|on| SpannedValue::new(on, meta.path().span())))
}

/// A whole number above 0.
pub(super) fn count(meta: &Meta) -> darling::Result<Option<u32>> {
    let number = match value(meta) {
        Some(Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        })) => number.base10_parse::<u32>().ok(),
        _ => None,
    };
    match number.filter(|number| *number > 0) {
        Some(number) => Ok(Some(number)),
        None => Err(wrong(meta, "a whole number above 0, without quotes")),
    }
}

/// The number of an `impl` block after the first.
pub(super) fn block(meta: &Meta) -> darling::Result<Option<SpannedValue<u32>>> {
    let number = count(meta).ok().flatten().filter(|number| *number > 1);
    match (number, value(meta)) {
        (Some(number), Some(value)) => Ok(Some(SpannedValue::new(number, value.span()))),
        _ => Err(wrong(
            meta,
            "the number of a further block of the same type: 2, 3 and so on; the first has none",
        )),
    }
}

/// Refuses `type = Name<…>`, which is no expression and so no value of a key to syn.
pub(super) fn no_type_arguments(tokens: &TokenStream) -> darling::Result<()> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |token: &TokenTree, text: &str| token.to_string() == text;
    let arguments = tokens
        .windows(4)
        .find(|window| is(&window[0], "type") && is(&window[1], "=") && is(&window[3], "<"));
    match arguments {
        Some(window) => Err(err!(
            window[3].span(),
            "`type` takes a name without arguments for the new type: `type = {}`",
            window[2]
        )),
        None => Ok(()),
    }
}

pub(super) fn type_name(meta: &Meta) -> darling::Result<Option<Ident>> {
    match value(meta) {
        Some(Expr::Path(path)) if path.path.get_ident().is_some() => {
            Ok(path.path.get_ident().cloned())
        }
        _ => Err(wrong(
            meta,
            "the name for the type, without quotes: `type = WeatherTool`",
        )),
    }
}

pub(super) fn like(meta: &Meta) -> darling::Result<Option<Type>> {
    match meta {
        Meta::List(list) => Ok(Some(list.parse_args()?)),
        _ => Err(wrong(
            meta,
            "a type in parentheses that is read from the same values: `like(String)`",
        )),
    }
}

pub(crate) fn root(meta: &Meta) -> darling::Result<Option<Path>> {
    match value(meta) {
        Some(Expr::Path(path)) => Ok(Some(path.path.clone())),
        _ => Err(wrong(
            meta,
            "a path without quotes: `crate = my_agent_core`",
        )),
    }
}

pub(super) fn effect(meta: &Meta) -> darling::Result<Option<Effect>> {
    let allowed = "`\"pure\"`, `\"idempotent\"` or `\"once\"`";
    let text = text(meta).map_err(|_| wrong(meta, allowed))?;
    match text.as_ref().map(|text| text.as_str()) {
        Some("pure") => Ok(Some(Effect::Pure)),
        Some("idempotent") => Ok(Some(Effect::Idempotent)),
        Some("once") => Ok(Some(Effect::Once)),
        _ => Err(wrong(meta, allowed)),
    }
}

pub(super) fn timeout(meta: &Meta) -> darling::Result<Option<u64>> {
    let allowed = "a whole number above 0 and `ms`, `s`, `m` or `h`: `\"30s\"`";
    let text = text(meta).map_err(|_| wrong(meta, allowed))?;
    let milliseconds = text.and_then(|text| milliseconds(&text));
    milliseconds.map(Some).ok_or_else(|| wrong(meta, allowed))
}

fn milliseconds(text: &str) -> Option<u64> {
    let unit = text.find(|character: char| !character.is_ascii_digit())?;
    let factor = match text.get(unit..)? {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let number: u64 = text.get(..unit)?.parse().ok()?;
    number.checked_mul(factor).filter(|product| *product > 0)
}

/// The value after `=`, out of the invisible groups that macros put around it.
pub(super) fn value(meta: &Meta) -> Option<&Expr> {
    let Meta::NameValue(meta) = meta else {
        return None;
    };
    let mut value = &meta.value;
    while let Expr::Group(group) = value {
        value = &group.expr;
    }
    Some(value)
}

pub(super) fn wrong(meta: &Meta, allowed: &str) -> darling::Error {
    let key = meta.path().get_ident().map(ToString::to_string);
    let key = key.unwrap_or_default();
    match value(meta) {
        Some(value) => err!(value, "`{key}` takes {allowed}"),
        None => err!(meta, "`{key}` takes {allowed}"),
    }
}
