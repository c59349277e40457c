//! `#[tool]` on an `impl` block: its methods with `#[tool]` become tools that share one object.

use darling::Error;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Attribute, FnArg, Meta, ReturnType};

use super::args::{BlockArgs, ToolArgs};
use super::model::{self, ToolFn};
use super::{check, expand, once};
use crate::block::{ImplBlock, Method};
use crate::diagnostics::{self, err};
use crate::signature::FnItem;

/// Expands the attribute. The block comes out in any case, as a function does.
pub(super) fn attribute(args: TokenStream, item: &TokenStream) -> TokenStream {
    let block = match ImplBlock::parse(item.clone()) {
        Ok(block) => block,
        Err(errors) => return diagnostics::after(item, errors),
    };
    let plain = block.without_helpers();
    match try_expand(args.clone(), &block) {
        Ok(generated) => quote! { #plain #generated },
        Err(errors) => {
            let stub = check::block(&block)
                .is_ok()
                .then(|| expand::block::stub(&BlockArgs::of_stub(args), &block));
            diagnostics::after(&quote! { #plain #stub }, errors)
        }
    }
}

fn try_expand(args: TokenStream, block: &ImplBlock) -> darling::Result<TokenStream> {
    let mut errors = Error::accumulator();
    let args = errors.handle(BlockArgs::parse(args));
    errors.handle(check::block(block));
    errors.handle(check::any_method(block));
    let tools: Vec<ToolFn> = block
        .methods()
        .filter_map(|method| errors.handle(tool(method)))
        .collect();
    errors.handle(check::tools(&tools));
    errors.finish()?;
    let Some(args) = args else {
        return Err(Error::custom("cannot be read"));
    };
    Ok(expand::block::tools(&args, block, &tools))
}

fn tool(method: &Method) -> darling::Result<ToolFn> {
    let Method {
        tool,
        hides_tool,
        function,
    } = method;
    if let Some(attribute) = hides_tool {
        return Err(err!(
            attribute.path(),
            "`#[tool]` on the block comes before `cfg_attr` is decided; write the method twice, each with its `#[cfg(…)]`, one with `#[tool]`"
        ));
    }
    let mut errors = Error::accumulator();
    let args = tool.first().map(keys).transpose();
    let args = args.and_then(|args| ToolArgs::parse_of_method(args.unwrap_or_default()));
    let args = errors.handle(args);
    errors.handle(once(tool.get(1..).unwrap_or_default()));
    errors.handle(check::signature(&function.signature));
    errors.handle(check::receiver(&function.signature));
    let named = with_object_named(function);
    let params = errors.handle(model::params(&named.signature));
    let (Some(args), Some(params)) = (args, params) else {
        return errors.finish().and(Err(Error::custom("cannot be read")));
    };
    let tool = ToolFn::new(args, params, &named);
    errors.handle(check::tool(&tool));
    errors.finish_with(tool)
}

/// The function with another word for `Self` in its types, as their constants stand beside the
/// `impl` block.
fn with_object_named(function: &FnItem) -> FnItem {
    let mut function = function.clone();
    let signature = &mut function.signature;
    let parameters = signature.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(&mut parameter.ty),
        FnArg::Receiver(_) => None,
    });
    let returned = match &mut signature.output {
        ReturnType::Type(_, ty) => Some(ty),
        ReturnType::Default => None,
    };
    for ty in parameters.chain(returned) {
        let tokens = ty.to_token_stream();
        if check::own_type(tokens.clone()).is_some()
            && let Ok(named) = syn::parse2(object_named(tokens))
        {
            **ty = named;
        }
    }
    function
}

fn object_named(tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(own) if own == "Self" => {
            TokenTree::Ident(Ident::new(expand::block::OBJECT, own.span()))
        }
        TokenTree::Group(group) => {
            let mut named = Group::new(group.delimiter(), object_named(group.stream()));
            named.set_span(group.span());
            TokenTree::Group(named)
        }
        token => token,
    });
    tokens.collect()
}

fn keys(attribute: &Attribute) -> darling::Result<TokenStream> {
    match &attribute.meta {
        Meta::Path(_) => Ok(TokenStream::new()),
        Meta::List(list) => Ok(list.tokens.clone()),
        Meta::NameValue(meta) => Err(err!(
            meta,
            "`#[tool]` takes its keys in parentheses: `#[tool(name = \"…\")]`"
        )),
    }
}
