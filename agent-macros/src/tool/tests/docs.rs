//! What a doc comment says to a model.

use syn::parse_quote;

use crate::docs::{self, Text};

fn described(attributes: &[syn::Attribute]) -> Option<String> {
    match docs::description(attributes)? {
        Text::Known(text) => Some(text),
        composed => Some(quote::ToTokens::to_token_stream(&composed).to_string()),
    }
}

#[test]
fn a_doc_comment_loses_one_space_per_line_and_its_blank_ends() {
    let attributes: Vec<syn::Attribute> = vec![
        parse_quote!(#[doc = ""]),
        parse_quote!(#[doc = " First."]),
        parse_quote!(#[inline]),
        parse_quote!(#[doc = ""]),
        parse_quote!(#[doc(hidden)]),
        parse_quote!(#[doc = "   - indented"]),
        parse_quote!(#[doc = " "]),
    ];

    assert_eq!(
        described(&attributes).as_deref(),
        Some("First.\n\n  - indented")
    );
}

#[test]
fn a_blank_doc_comment_is_none() {
    assert_eq!(described(&[parse_quote!(#[doc = "  "])]), None);
}

#[test]
fn a_doc_comment_from_a_file_is_put_together_by_the_compiler() {
    let attributes: Vec<syn::Attribute> = vec![
        parse_quote!(#[doc = " First."]),
        parse_quote!(#[doc = include_str!("a.md")]),
    ];

    assert_eq!(
        described(&attributes).as_deref(),
        Some(
            r#":: core :: concat ! ("First." , "\n" , include_str ! ("a.md") , "\n") . trim_ascii ()"#
        )
    );
}
