//! A function as written: attributes, visibility, signature, and the body as raw tokens.
//!
//! Not here: what any of it means to a tool.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, Ident, LitStr, Meta, ReturnType, Signature, Token, Visibility, parse_quote,
};

use crate::diagnostics::err;
use crate::tool::bare::is_no_parameter_in_rust;
use crate::tool::param_type::check_returned;

/// A function whose body is not looked at.
#[derive(Clone)]
pub(crate) struct FnItem {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: TokenStream,
}

impl FnItem {
    pub(crate) fn parse(item: TokenStream) -> darling::Result<Self> {
        syn::parse2::<Parsed>(item)?.0
    }

    /// Where its first and its last token are, attributes aside.
    pub(crate) fn ends(&self) -> (Span, Span) {
        let (visibility, signature) = (&self.visibility, &self.signature);
        let head = quote! { #visibility #signature }.into_iter().next();
        let body = self.body.clone().into_iter().last();
        let place = |token: Option<TokenTree>| token.map_or_else(Span::call_site, |it| it.span());
        (place(head), place(body))
    }

    /// The function as the compiler may see it: without docs and `#[param]` on parameters.
    pub(crate) fn without_helpers(&self) -> TokenStream {
        let Self {
            attributes,
            visibility,
            body,
            ..
        } = self;
        let mut signature = self.signature.clone();
        // Refused by us; left out, so that the compiler does not tell it again.
        let mut is_shown = signature.variadic.take().is_none();
        if let ReturnType::Type(_, ty) = &mut signature.output
            && check_returned(ty).is_err()
        {
            // Named all the same, or its import would be one too many.
            **ty = parse_quote! { ::std::boxed::Box<#ty> };
            is_shown = false;
        }
        for input in &mut signature.inputs {
            if let FnArg::Typed(parameter) = input {
                parameter.attrs.retain(|attribute| !is_helper(attribute));
                if is_no_parameter_in_rust(&parameter.ty) {
                    *parameter.ty = parse_quote! { () };
                    is_shown = false;
                }
            }
        }
        // Whoever writes a tool `async` for the sake of its siblings has nothing to await. In
        // front, so that a level the user sets for the lint wins.
        let unused_async = signature
            .asyncness
            .map(|_| quote! { #[allow(clippy::unused_async)] });
        if is_shown {
            quote! { #unused_async #(#attributes)* #visibility #signature #body }
        } else {
            // No body fits such a signature.
            quote! { #[allow(unused)] #(#attributes)* #visibility #signature { loop {} } }
        }
    }
}

/// Is this attribute the one that makes a tool?
pub(crate) fn is_tool(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == "tool")
}

/// Is this attribute of a parameter for us alone?
pub(crate) fn is_helper(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") || attribute.path().is_ident("param") || hides_keys(attribute)
}

/// Is this a `cfg_attr` with a `#[param]` in it? `#[tool]` runs before it is decided.
pub(crate) fn hides_keys(attribute: &Attribute) -> bool {
    hides(attribute, "param")
}

/// Is this a `cfg_attr` with a `#[tool]` in it? In an `impl` block it is not decided yet.
pub(crate) fn hides_tool(attribute: &Attribute) -> bool {
    hides(attribute, "tool")
}

fn hides(attribute: &Attribute, name: &str) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    let is_it = |token: TokenTree| matches!(token, TokenTree::Ident(ident) if ident == name);
    list.path.is_ident("cfg_attr") && list.tokens.clone().into_iter().any(is_it)
}

/// The attributes that decide whether the item is there at all, without their neighbours:
/// `cfg_attr(a, cfg(b), inline)` becomes `cfg_attr(a, cfg(b))`.
pub(crate) fn conditions(attributes: &[Attribute]) -> Vec<TokenStream> {
    let conditional = |meta: &Meta| condition(meta).map(|meta| quote! { #[#meta] });
    let metas = attributes.iter().map(|attribute| &attribute.meta);
    metas.filter_map(conditional).collect()
}

fn condition(meta: &Meta) -> Option<TokenStream> {
    if meta.path().is_ident("cfg") {
        return Some(meta.to_token_stream());
    }
    if !meta.path().is_ident("cfg_attr") {
        return None;
    }
    let list = syn::punctuated::Punctuated::<Meta, Token![,]>::parse_terminated;
    let parts = meta.require_list().ok()?.parse_args_with(list).ok()?;
    let mut parts = parts.iter();
    let predicate = parts.next()?;
    let kept: Vec<_> = parts.filter_map(condition).collect();
    (!kept.is_empty()).then(|| quote! { cfg_attr(#predicate, #(#kept),*) })
}

/// What the user let pass in the function, for the code that names its types and calls it.
pub(crate) fn allowances(attributes: &[Attribute]) -> Vec<TokenStream> {
    let allowance = |attribute: &Attribute| match &attribute.meta {
        Meta::List(lints) if lints.path.is_ident("allow") || lints.path.is_ident("expect") => {
            let lints = &lints.tokens;
            Some(quote! { #[allow(#lints)] })
        }
        meta if meta.path().is_ident("deprecated") => Some(quote! { #[allow(deprecated)] }),
        _ => None,
    };
    attributes.iter().filter_map(allowance).collect()
}

/// Errors of ours inside, syn's outside, because `Parse` knows only the latter.
struct Parsed(darling::Result<FnItem>);

impl Parse for Parsed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = Attribute::parse_outer(input)?;
        let visibility = input.parse()?;
        if !is_function(input) {
            let found = input.cursor().token_stream().into_iter().next();
            input.parse::<TokenStream>()?;
            return Ok(Self(Err(not_a_function(&found.into_token_stream()))));
        }
        let signature: Signature = input.parse()?;
        let body: TokenStream = input.parse()?;
        if input.is_empty() && body.to_string() == ";" {
            let fault = err!(body, "a tool needs a body; a trait's method cannot be one");
            return Ok(Self(Err(fault)));
        }
        Ok(Self(Ok(FnItem {
            attributes,
            visibility,
            signature,
            body,
        })))
    }
}

/// Does a function follow, after attributes and visibility?
pub(crate) fn is_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    while !ahead.peek(Token![fn]) {
        let qualifier = ahead.peek(Token![const])
            || ahead.peek(Token![async])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern]);
        let skipped = if qualifier {
            Ident::parse_any(&ahead).is_ok()
        } else {
            ahead.parse::<LitStr>().is_ok()
        };
        if !skipped {
            return false;
        }
    }
    true
}

fn not_a_function(found: &TokenStream) -> darling::Error {
    err!(
        found,
        "`#[tool]` goes on a function, `fn` or `async fn`, or on an `impl` block"
    )
}
