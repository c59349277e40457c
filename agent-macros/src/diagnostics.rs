//! How errors are made and shown: the user's item first, then every error.
//!
//! Not here: the wording of a check, which stands beside the check.

use proc_macro2::TokenStream;
use quote::quote;

/// An error under the given token, worded like `format!`.
macro_rules! err {
    ($token:expr, $($message:tt)*) => {
        darling::Error::custom(format!($($message)*)).with_span(&$token)
    };
}
pub(crate) use err;

/// The item, so that its other uses still compile, and the errors.
pub(crate) fn after(item: &TokenStream, errors: darling::Error) -> TokenStream {
    let errors = errors.write_errors();
    quote! { #item #errors }
}
