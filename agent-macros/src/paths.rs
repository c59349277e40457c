//! How generated code names `agent-core`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Path;

/// The hidden module that holds everything generated code may name, where [`import`] stands.
pub(crate) fn private() -> TokenStream {
    quote_spanned! {Span::mixed_site()=> __agent_private }
}

/// The line by which a block of generated code has that module.
///
/// One line, so that a crate which is not there is one error. The default has a leading `::`,
/// so that a module of that name in the user's crate does not get in its way.
pub(crate) fn import(root: Option<&Path>) -> TokenStream {
    let private = private();
    match root {
        Some(root) => quote_spanned! {Span::mixed_site()=> use #root::__private as #private; },
        None => quote_spanned! {Span::mixed_site()=> use ::agent_core::__private as #private; },
    }
}
