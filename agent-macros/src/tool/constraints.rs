//! The keys of `#[param(…)]` that narrow a value: bounds, lengths, a pattern, an example.
//!
//! What the keys say of each other is checked here, by their literals. Whether one can apply
//! to the parameter's type is for `agent_core::schema::Constraints` to say, in a constant.

use darling::{Error, FromMeta};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, Meta};

use super::default::Default;
use super::literal::{Literal, Number};
use super::values;
use crate::diagnostics::err;

/// A key with its value, and where both are written.
struct Key<T> {
    name: Ident,
    value: T,
    place: Span,
}

#[derive(FromMeta)]
pub(crate) struct Constraints {
    #[darling(default, with = number_key)]
    minimum: Option<Key<Number>>,
    #[darling(default, with = number_key)]
    maximum: Option<Key<Number>>,
    #[darling(default, with = number_key)]
    exclusive_minimum: Option<Key<Number>>,
    #[darling(default, with = number_key)]
    exclusive_maximum: Option<Key<Number>>,
    #[darling(default, with = count_key)]
    min_length: Option<Key<u32>>,
    #[darling(default, with = count_key)]
    max_length: Option<Key<u32>>,
    #[darling(default, with = count_key)]
    min_items: Option<Key<u32>>,
    #[darling(default, with = count_key)]
    max_items: Option<Key<u32>>,
    #[darling(default, with = pattern_key)]
    pattern: Option<Key<String>>,
    #[darling(default, with = example_key)]
    example: Option<Key<Literal>>,
}

/// What kind of value a key is for.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Text,
    List,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text => "text",
            Self::List => "a list",
        }
    }
}

impl Constraints {
    /// Refuses keys that no value can keep to, and a default or an example that does not.
    pub(crate) fn check(&self, default: Option<&Default>) -> darling::Result<()> {
        let mut errors = Error::accumulator();
        self.check_order(&mut errors);
        let mut kinds = self.kinds().into_iter();
        if let Some((first, kind)) = kinds.next() {
            for (name, other) in kinds.filter(|(_, other)| *other != kind) {
                errors.push(err!(
                    name,
                    "`{name}` is for {} and `{first}` for {}; no value is both",
                    other.words(),
                    kind.words()
                ));
            }
        }
        let default = default.and_then(Default::literal);
        let example = self.example.as_ref().map(|key| (&key.value, key.place));
        let values = [
            (
                "default",
                default.as_ref().map(|(value, place)| (value, *place)),
            ),
            ("example", example),
        ];
        for (what, value) in values {
            if let Some((value, place)) = value
                && let Some(why) = self.refusal(value)
            {
                errors.push(err!(place, "the {what} {value} does not keep to {why}"));
            }
        }
        errors.finish()
    }

    fn check_order(&self, errors: &mut darling::error::Accumulator) {
        let lower = [&self.minimum, &self.exclusive_minimum];
        let upper = [&self.maximum, &self.exclusive_maximum];
        let pairs = lower
            .into_iter()
            .flat_map(|low| upper.map(|high| (low, high)));
        for (low, high) in pairs {
            let (Some(low), Some(high)) = (low, high) else {
                continue;
            };
            let both_in = low.name == "minimum" && high.name == "maximum";
            if low.value.is_above(&high.value) || (!both_in && !high.value.is_above(&low.value)) {
                errors.push(nothing_between(low, high));
            }
        }
        let counts = [
            (&self.min_length, &self.max_length),
            (&self.min_items, &self.max_items),
        ];
        for (low, high) in counts {
            if let (Some(low), Some(high)) = (low, high)
                && low.value > high.value
            {
                errors.push(nothing_between(low, high));
            }
        }
    }

    /// Refuses all keys, where there is no property to narrow.
    pub(crate) fn refuse(&self) -> darling::Result<()> {
        let example = self.example.iter().map(|key| &key.name);
        let mut keys = self
            .kinds()
            .into_iter()
            .map(|(name, _)| name)
            .chain(example);
        match keys.next() {
            Some(key) => Err(err!(
                key,
                "`{key}` narrows a property; put it on the parameter or the named field that has this type"
            )),
            None => Ok(()),
        }
    }

    fn kinds(&self) -> Vec<(&Ident, Kind)> {
        let numbers = [
            &self.minimum,
            &self.maximum,
            &self.exclusive_minimum,
            &self.exclusive_maximum,
        ];
        let lengths = [&self.min_length, &self.max_length];
        let items = [&self.min_items, &self.max_items];
        let mut kinds = Vec::new();
        kinds.extend(
            numbers
                .into_iter()
                .flatten()
                .map(|key| (&key.name, Kind::Number)),
        );
        kinds.extend(
            lengths
                .into_iter()
                .flatten()
                .map(|key| (&key.name, Kind::Text)),
        );
        kinds.extend(self.pattern.iter().map(|key| (&key.name, Kind::Text)));
        kinds.extend(
            items
                .into_iter()
                .flatten()
                .map(|key| (&key.name, Kind::List)),
        );
        kinds
    }

    /// The key the value does not keep to, with its value.
    fn refusal(&self, value: &Literal) -> Option<String> {
        let kind = match value {
            Literal::Number(number) => {
                let named = |key: &Key<Number>| format!("`{} = {}`", key.name, key.value);
                let refuses = |key: &&Key<Number>| match key.name.to_string().as_str() {
                    "minimum" => key.value.is_above(number),
                    "maximum" => number.is_above(&key.value),
                    "exclusive_minimum" => !number.is_above(&key.value),
                    _ => !key.value.is_above(number),
                };
                let keys = [
                    &self.minimum,
                    &self.maximum,
                    &self.exclusive_minimum,
                    &self.exclusive_maximum,
                ];
                if let Some(key) = keys.into_iter().flatten().find(refuses) {
                    return Some(named(key));
                }
                Kind::Number
            }
            Literal::Text(text) => {
                let length = text.chars().count();
                if let Some(refusal) = counted(length, &self.min_length, &self.max_length) {
                    return Some(refusal);
                }
                if let Some(key) = &self.pattern
                    && regex_lite::Regex::new(&key.value).is_ok_and(|regex| !regex.is_match(text))
                {
                    return Some(format!("`pattern = {:?}`", key.value));
                }
                Kind::Text
            }
            Literal::List(items) => {
                if let Some(refusal) = counted(items.len(), &self.min_items, &self.max_items) {
                    return Some(refusal);
                }
                Kind::List
            }
            Literal::Bool(_) => {
                let (name, kind) = self.kinds().into_iter().next()?;
                return Some(format!("`{name}`, which is for {}", kind.words()));
            }
        };
        let (name, other) = self.kinds().into_iter().find(|(_, other)| *other != kind)?;
        Some(format!("`{name}`, which is for {}", other.words()))
    }

    /// The steps that say all this of the local `__agent_of`; `None` if there is nothing to say. Each
    /// stands under its key, where one that cannot apply shows, or under its value, where that
    /// is at fault.
    pub(crate) fn steps(&self, private: &TokenStream) -> Option<TokenStream> {
        let bound = |key: &Key<Number>| {
            let value = match &key.value {
                Number::Integer(value) => {
                    let value = i64::try_from(*value).unwrap_or_default();
                    quote_spanned! {Span::mixed_site()=> #private::Bound::Integer(#value) }
                }
                Number::Float(value, text) => {
                    quote_spanned! {Span::mixed_site()=> #private::Bound::Float(#value, #text) }
                }
            };
            let checked = quote_spanned! {Span::mixed_site().located_at(key.place)=>
                __agent_constraints.check_value(#value);
            };
            (key.name.clone(), value, Some(checked))
        };
        let count = |key: &Key<u32>| (key.name.clone(), key.value.to_token_stream(), None);
        let bounds = [
            &self.minimum,
            &self.maximum,
            &self.exclusive_minimum,
            &self.exclusive_maximum,
        ];
        let counts = [
            &self.min_length,
            &self.max_length,
            &self.min_items,
            &self.max_items,
        ];
        let mut said: Vec<(Ident, TokenStream, Option<TokenStream>)> =
            bounds.into_iter().flatten().map(bound).collect();
        said.extend(counts.into_iter().flatten().map(count));
        let pattern = self.pattern.iter();
        said.extend(pattern.map(|key| (key.name.clone(), key.value.to_token_stream(), None)));
        let example = self.example.iter();
        said.extend(example.map(|key| {
            let name = Ident::new("example", key.place);
            (name, key.value.to_string().to_token_stream(), None)
        }));

        let first = said.first()?.0.span();
        let site = Span::mixed_site().located_at(first);
        let start = quote_spanned! {site=> let __agent_constraints = __agent_of.constraints(); };
        let steps = said.iter().map(|(name, value, checked)| {
            let site = Span::mixed_site().located_at(name.span());
            let method = format_ident!("{name}", span = site);
            quote_spanned! {site=>
                #checked
                let __agent_constraints = __agent_constraints.#method(#value);
            }
        });
        Some(quote_spanned! {Span::mixed_site()=> #start #(#steps)* __agent_constraints })
    }
}

fn nothing_between<T: std::fmt::Display>(low: &Key<T>, high: &Key<T>) -> Error {
    err!(
        high.place,
        "no value keeps to both `{} = {}` and `{} = {}`",
        low.name,
        low.value,
        high.name,
        high.value
    )
}

fn counted(count: usize, low: &Option<Key<u32>>, high: &Option<Key<u32>>) -> Option<String> {
    let low = low.as_ref().filter(|key| count < key.value as usize);
    let high = high.as_ref().filter(|key| count > key.value as usize);
    let key = low.or(high)?;
    Some(format!("`{} = {}`", key.name, key.value))
}

fn key<T>(meta: &Meta, value: Option<T>, allowed: &str) -> darling::Result<Option<Key<T>>> {
    let name = meta.path().get_ident();
    let (Some(name), Some(value), Some(written)) = (name, value, values::value(meta)) else {
        return Err(values::wrong(meta, allowed));
    };
    Ok(Some(Key {
        name: name.clone(),
        value,
        place: written.span(),
    }))
}

fn number_key(meta: &Meta) -> darling::Result<Option<Key<Number>>> {
    let value = values::value(meta).and_then(Literal::of);
    let value = value.and_then(|value| match value {
        Literal::Number(number) => number.is_a_bound().then_some(number),
        _ => None,
    });
    key(
        meta,
        value,
        "a number that fits an `i64` or an `f64`, as `1` or `0.5`",
    )
}

fn count_key(meta: &Meta) -> darling::Result<Option<Key<u32>>> {
    let value = match values::value(meta).and_then(Literal::of) {
        Some(Literal::Number(Number::Integer(count))) => u32::try_from(count).ok(),
        _ => None,
    };
    key(meta, value, "a whole number from 0 on")
}

fn pattern_key(meta: &Meta) -> darling::Result<Option<Key<String>>> {
    let text = match values::value(meta) {
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        })) => Some(text),
        _ => None,
    };
    if let Some(text) = text
        && let Err(error) = regex_lite::Regex::new(&text.value())
    {
        return Err(err!(text, "`pattern` is no regular expression: {error}"));
    }
    let value = text.map(syn::LitStr::value);
    key(
        meta,
        value,
        "a regular expression in quotes: `pattern = \"^[a-z]+$\"`",
    )
}

fn example_key(meta: &Meta) -> darling::Result<Option<Key<Literal>>> {
    let value = values::value(meta).and_then(Literal::of);
    key(
        meta,
        value,
        "a literal, or a list of literals: `\"Oslo\"`, `3`, `[1, 2]`",
    )
}
