//! How generated code names `agent-core`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Path;

/// The hidden module that holds everything generated code may name.
///
/// The default has a leading `::`, so that a module of that name in the user's crate
/// does not get in its way.
pub(crate) fn private(root: Option<&Path>) -> TokenStream {
    match root {
        Some(root) => quote_spanned! {Span::mixed_site()=> #root::__private },
        None => quote_spanned! {Span::mixed_site()=> ::agent_core::__private },
    }
}
