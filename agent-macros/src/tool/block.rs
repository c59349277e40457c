//! `#[tool]` on an `impl` block: its methods with `#[tool]` become tools that share one object.

use darling::Error;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Meta};

use super::args::{BlockArgs, ToolArgs};
use super::model::{self, ToolFn};
use super::{check, expand, once};
use crate::block::{ImplBlock, Method};
use crate::diagnostics::{self, err};

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
    let params = errors.handle(model::params(&function.signature));
    let (Some(args), Some(params)) = (args, params) else {
        return errors.finish().and(Err(Error::custom("cannot be read")));
    };
    let tool = ToolFn::new(args, params, function);
    errors.handle(check::tool(&tool));
    errors.finish_with(tool)
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
