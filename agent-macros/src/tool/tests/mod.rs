//! What the attribute expands to, and the rules behind it.

mod blocks;
mod docs;
mod functions;
mod keys;
mod names;

use expect_test::Expect;
use proc_macro2::TokenStream;

fn expansion(args: TokenStream, item: &TokenStream) -> String {
    let file = syn::parse2(super::attribute(args, item)).expect("the expansion is a file");
    prettyplease::unparse(&file)
}

fn check(args: TokenStream, item: &TokenStream, expected: &Expect) {
    expected.assert_eq(&expansion(args, item));
}
