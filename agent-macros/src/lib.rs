//! The macros of `agent-core`. Their user documentation stands on the re-exports there.

mod block;
mod diagnostics;
mod docs;
mod paths;
mod schema;
mod signature;
mod tool;

use proc_macro::TokenStream;

#[expect(missing_docs, reason = "rustdoc would add it to that of the re-export")]
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::attribute(args.into(), &item.into()).into()
}

#[expect(missing_docs, reason = "rustdoc would add it to that of the re-export")]
#[proc_macro_derive(ToolSchema, attributes(param, serde))]
pub fn tool_schema(item: TokenStream) -> TokenStream {
    schema::derive(item.into()).into()
}
