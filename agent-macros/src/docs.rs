//! Doc comments as descriptions.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Attribute, Expr, Lit, Meta};

/// A description: known here, or put together by the compiler.
#[derive(Clone)]
pub(crate) enum Text {
    Known(String),
    /// A `concat!`, because a part is `include_str!` or the like.
    Composed(TokenStream),
}

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Known(text) => text.to_tokens(tokens),
            Self::Composed(concat) => {
                tokens.extend(quote_spanned! {Span::mixed_site()=> #concat.trim_ascii() });
            }
        }
    }
}

/// The texts one after another, each behind its mark and on lines of its own.
pub(crate) fn list<'a>(texts: impl Iterator<Item = (String, &'a Text)>) -> Option<Text> {
    texts.fold(None, |all, (mark, text)| {
        let text = join(&Text::Known(mark), "", text);
        Some(match all {
            Some(all) => join(&all, "\n", &text),
            None => text,
        })
    })
}

/// The first text and, in a paragraph of its own, the second.
pub(crate) fn followed_by(first: Option<&Text>, second: Option<Text>) -> Option<Text> {
    match (first, second) {
        (Some(first), Some(second)) => Some(join(first, "\n\n", &second)),
        (first, second) => second.or_else(|| first.cloned()),
    }
}

fn join(first: &Text, between: &str, second: &Text) -> Text {
    match (first, second) {
        (Text::Known(first), Text::Known(second)) => {
            Text::Known(format!("{first}{between}{second}"))
        }
        (first, second) => {
            let part = |text: &Text| match text {
                Text::Known(text) => text.to_token_stream(),
                Text::Composed(concat) => concat.clone(),
            };
            let (first, second) = (part(first), part(second));
            Text::Composed(quote_spanned! {Span::mixed_site()=>
                ::core::concat!(#first, #between, #second)
            })
        }
    }
}

/// The doc comment among these attributes; `None` if there is none or it is blank.
///
/// One leading space is taken off each line, the lines are joined by `\n`, the whole is
/// trimmed. All attributes but `doc` are skipped, and so is `#[doc(hidden)]`.
pub(crate) fn description(attributes: &[Attribute]) -> Option<Text> {
    let lines: Vec<&Expr> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(doc) if doc.path.is_ident("doc") => Some(ungrouped(&doc.value)),
            _ => None,
        })
        .collect();
    let known: Option<Vec<String>> = lines.iter().map(|line| literal(line)).collect();
    match known {
        Some(known) => {
            let text = joined(&known);
            (!text.is_empty()).then_some(Text::Known(text))
        }
        None => Some(Text::Composed(composed(&lines))),
    }
}

fn literal(line: &Expr) -> Option<String> {
    match line {
        Expr::Lit(line) => match &line.lit {
            Lit::Str(line) => Some(line.value()),
            _ => None,
        },
        _ => None,
    }
}

/// An expression without the invisible group that `$line:expr` of a macro puts around it.
fn ungrouped(mut line: &Expr) -> &Expr {
    while let Expr::Group(group) = line {
        line = &group.expr;
    }
    line
}

fn joined(values: &[String]) -> String {
    let lines = values.iter().flat_map(|value| without_stars(value));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n").trim().to_owned()
}

/// The lines of one comment. A block comment is one value of several lines; a `*` that
/// opens each of them belongs to its frame, as rustdoc sees it.
fn without_stars(value: &str) -> Vec<&str> {
    let lines: Vec<&str> = value.split('\n').collect();
    let inner = lines.iter().skip(1).map(|line| line.trim_start());
    let framed = lines.len() > 1
        && inner
            .filter(|line| !line.is_empty())
            .all(|line| line.starts_with('*'));
    if !framed {
        return lines;
    }
    lines
        .into_iter()
        .map(|line| line.trim_start().strip_prefix('*').unwrap_or(line))
        .collect()
}

fn composed(lines: &[&Expr]) -> TokenStream {
    let lines = lines.iter().map(|line| match literal(line) {
        Some(text) => joined(&[text]).into_token_stream(),
        None => line.into_token_stream(),
    });
    quote_spanned! {Span::mixed_site()=> ::core::concat!(#(#lines, "\n"),*) }
}
