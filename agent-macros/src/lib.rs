//! The macros of `agent-core`. Their user documentation stands on the re-exports there.

mod diagnostics;
mod docs;
mod paths;
mod signature;
mod tool;

use proc_macro::TokenStream;

#[expect(missing_docs, reason = "rustdoc would add it to that of the re-export")]
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::attribute(args.into(), &item.into()).into()
}
