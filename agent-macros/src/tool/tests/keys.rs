//! The keys named in messages are those that are read.

use std::collections::BTreeSet;

use syn::{Fields, Item, LitStr};

use crate::tool::args::{KEYS_OF_PARAM, KEYS_OF_TOOL};

/// The keys darling reads into a struct, flattened fields left out.
fn keys_of(source: &str, name: &str) -> BTreeSet<String> {
    let file = syn::parse_file(source).expect("the source of a module");
    let item = file.items.into_iter().find_map(|item| match item {
        Item::Struct(item) if item.ident == name => Some(item),
        _ => None,
    });
    let Fields::Named(fields) = item.expect("the struct is there").fields else {
        panic!("`{name}` has named fields");
    };
    let key = |field: &syn::Field| {
        let mut key = field.ident.as_ref().map(ToString::to_string);
        for attribute in &field.attrs {
            if !attribute.path().is_ident("darling") {
                continue;
            }
            let read = attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("flatten") {
                    key = None;
                } else if meta.path.is_ident("rename") {
                    key = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("with") {
                    meta.value()?.parse::<syn::Path>()?;
                }
                Ok(())
            });
            read.expect("a form this test knows");
        }
        key
    };
    fields.named.iter().filter_map(key).collect()
}

fn told(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

#[test]
fn messages_name_the_keys_of_a_tool_that_are_read() {
    let read = keys_of(include_str!("../args.rs"), "ToolArgs");

    assert_eq!(told(&KEYS_OF_TOOL), read);
}

#[test]
fn messages_name_the_keys_of_a_parameter_that_are_read() {
    let mut read = keys_of(include_str!("../args.rs"), "ParamArgs");
    read.extend(keys_of(include_str!("../constraints.rs"), "Constraints"));

    assert_eq!(told(&KEYS_OF_PARAM), read);
}
