//! An `impl` block as written: its head, and its items with the tools among them apart.
//!
//! Not here: what any of it means to a tool.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, Generics, ImplItem, ItemImpl, Path, Signature, Token, Type, Visibility};

use crate::signature::{FnItem, hides_tool, is_function, is_tool};

/// An `impl` block; the bodies of its functions are not looked at.
pub(crate) struct ImplBlock {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) impl_token: Token![impl],
    pub(crate) generics: Generics,
    /// The trait, if it is a trait's.
    pub(crate) of_trait: Option<Path>,
    pub(crate) self_type: Type,
    head: TokenStream,
    body: Group,
    inner_attributes: Vec<Attribute>,
    items: Vec<Item>,
}

enum Item {
    Other(TokenStream),
    Method(Box<Method>),
}

/// A function of the block with `#[tool]` on it.
pub(crate) struct Method {
    /// The attributes `#[tool]`; the first is the one.
    pub(crate) tool: Vec<Attribute>,
    /// An attribute that may bring one, once it is too late.
    pub(crate) hides_tool: Option<Attribute>,
    pub(crate) function: FnItem,
}

impl ImplBlock {
    /// Does this item look like an `impl` block?
    pub(crate) fn is_one(item: &TokenStream) -> bool {
        let mut tokens = item.clone().into_iter().peekable();
        while tokens.next_if(|token| is_punct(token, '#')).is_some() {
            tokens.next();
        }
        let qualifier = |token: &TokenTree| is_ident(token, "unsafe") || is_ident(token, "default");
        while tokens.next_if(qualifier).is_some() {}
        tokens.next().is_some_and(|token| is_ident(&token, "impl"))
    }

    pub(crate) fn parse(item: TokenStream) -> darling::Result<Self> {
        let mut tokens: Vec<TokenTree> = item.into_iter().collect();
        let body = match tokens.pop() {
            Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body,
            last => {
                let last = last.into_token_stream();
                return Err(syn::Error::new_spanned(last, "expected `{`").into());
            }
        };
        let head: TokenStream = tokens.into_iter().collect();
        let parsed: ItemImpl = syn::parse2(quote! { #head {} })?;
        let (inner_attributes, items) = parse_body.parse2(body.stream())?;
        Ok(Self {
            attributes: parsed.attrs,
            impl_token: parsed.impl_token,
            generics: parsed.generics,
            of_trait: parsed.trait_.map(|(path, _)| path),
            self_type: *parsed.self_ty,
            head,
            body,
            inner_attributes,
            items,
        })
    }

    /// The methods that are to become tools, in order.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.items.iter().filter_map(|item| match item {
            Item::Method(method) => Some(&**method),
            Item::Other(_) => None,
        })
    }

    /// The block as the compiler may see it: without `#[tool]`, and without docs and
    /// `#[param]` on parameters of tools.
    pub(crate) fn without_helpers(&self) -> TokenStream {
        let (head, inner) = (&self.head, &self.inner_attributes);
        let items = self.items.iter().map(|item| match item {
            Item::Method(method) => method.function.without_helpers(),
            Item::Other(tokens) => tokens.clone(),
        });
        let mut body = Group::new(Delimiter::Brace, quote! { #(#inner)* #(#items)* });
        body.set_span(self.body.span());
        quote! { #head #body }
    }
}

fn parse_body(input: ParseStream<'_>) -> syn::Result<(Vec<Attribute>, Vec<Item>)> {
    let inner_attributes = Attribute::parse_inner(input)?;
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse()?);
    }
    Ok((inner_attributes, items))
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        Attribute::parse_outer(&ahead)?;
        Visibility::parse(&ahead)?;
        if !is_function(&ahead) {
            let item: ImplItem = input.parse()?;
            return Ok(Self::Other(item.into_token_stream()));
        }
        let attributes = Attribute::parse_outer(input)?;
        let visibility = input.parse()?;
        let signature: Signature = input.parse()?;
        let body = input.parse::<TokenTree>()?.into_token_stream();
        let (tool, attributes): (Vec<_>, Vec<_>) = attributes.into_iter().partition(is_tool);
        let (hidden, attributes): (Vec<_>, Vec<_>) = attributes.into_iter().partition(hides_tool);
        let hides_tool = hidden.into_iter().next();
        if tool.is_empty() && hides_tool.is_none() {
            return Ok(Self::Other(
                quote! { #(#attributes)* #visibility #signature #body },
            ));
        }
        let function = FnItem {
            attributes,
            visibility,
            signature,
            body,
        };
        Ok(Self::Method(Box::new(Method {
            tool,
            hides_tool,
            function,
        })))
    }
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn is_ident(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == wanted)
}
