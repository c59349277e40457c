//! The attribute `#[tool]`: arguments and signature, model, check, expansion.

pub(crate) mod args;
pub(crate) mod bare;
mod block;
mod check;
pub(crate) mod constraints;
pub(crate) mod default;
mod expand;
mod literal;
mod model;
mod names;
pub(crate) mod param_type;
#[cfg(test)]
mod tests;
pub(crate) mod values;

use darling::Error;
use proc_macro2::TokenStream;
use quote::quote;

use crate::block::ImplBlock;
use crate::diagnostics::{self, err};
use crate::signature::{FnItem, is_tool};
use args::ToolArgs;
use model::ToolFn;

/// Expands the attribute. The function comes out in any case, so that one mistake in the
/// attribute does not become one error at each of its callers.
pub(crate) fn attribute(args: TokenStream, item: &TokenStream) -> TokenStream {
    if ImplBlock::is_one(item) {
        return block::attribute(args, item);
    }
    let mut function = match FnItem::parse(item.clone()) {
        Ok(function) => function,
        Err(errors) => return diagnostics::after(item, errors),
    };
    let again: Vec<_> = function
        .attributes
        .extract_if(.., |attribute| is_tool(attribute))
        .collect();
    let plain = function.without_helpers();
    let expanded = once(&again).and_then(|()| try_expand(args.clone(), &function));
    match expanded {
        Ok(generated) => quote! { #plain #generated },
        Err(errors) => {
            let stub = expand::stub(args, &function);
            diagnostics::after(&quote! { #plain #stub }, errors)
        }
    }
}

/// Refuses an attribute `#[tool]` beside the one that is being expanded.
fn once(again: &[syn::Attribute]) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    for attribute in again {
        errors.push(err!(
            attribute.path(),
            "`#[tool]` is given twice; write all keys in one"
        ));
    }
    errors.finish()
}

fn try_expand(args: TokenStream, function: &FnItem) -> darling::Result<TokenStream> {
    let mut errors = Error::accumulator();
    let args = errors.handle(ToolArgs::parse(args));
    errors.handle(check::signature(&function.signature));
    errors.handle(check::no_receiver(&function.signature));
    let params = errors.handle(model::params(&function.signature));
    let (Some(args), Some(params)) = (args, params) else {
        return errors.finish().map(|()| TokenStream::new());
    };
    let tool = ToolFn::new(args, params, function);
    errors.handle(check::tool(&tool));
    errors.handle(check::type_name(&tool));
    errors.finish()?;
    Ok(expand::function::tool(&tool))
}
