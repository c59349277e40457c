//! What the attribute expands to, and the rules behind it.

mod blocks;
mod docs;
mod functions;
mod keys;
mod names;

use expect_test::Expect;
use proc_macro2::TokenStream;
use syn::{File, Item};

/// With the items that come by way of a macro in place of that macro.
fn expansion(args: TokenStream, item: &TokenStream) -> String {
    let mut file: File = syn::parse2(super::attribute(args, item)).expect("it is a file");
    let items = file.items.into_iter().flat_map(|item| match item {
        Item::Macro(definition) if definition.ident.is_some() => Vec::new(),
        Item::Macro(call) => match call.mac.parse_body::<File>() {
            Ok(file) => file.items,
            Err(_) => vec![Item::Macro(call)],
        },
        item => vec![item],
    });
    file.items = items.collect();
    prettyplease::unparse(&file)
}

fn check(args: TokenStream, item: &TokenStream, expected: &Expect) {
    expected.assert_eq(&expansion(args, item));
}
