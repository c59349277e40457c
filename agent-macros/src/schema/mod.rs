//! `#[derive(ToolSchema)]`: attributes and fields, model, check, expansion.

mod args;
mod case;
mod check;
mod enums;
mod expand;
mod field;
mod model;
mod own;
mod serde;
#[cfg(test)]
mod tests;

use darling::Error;
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use args::TypeArgs;
use model::TypeModel;

/// Expands the derive. The type gets a schema in any case, so that one mistake in it does
/// not become one error at each of its uses.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    match try_expand(&input) {
        Ok(generated) => generated,
        Err(errors) => {
            let errors = errors.write_errors();
            let stub = expand::stub(&input, TypeArgs::root_of(&input.attrs).as_ref());
            quote! { #stub #errors }
        }
    }
}

fn try_expand(input: &DeriveInput) -> darling::Result<TokenStream> {
    let model = TypeModel::new(input)?;
    let mut errors = Error::accumulator();
    errors.handle(check::names(&model));
    errors.finish_with(expand::implementation(&model))
}
