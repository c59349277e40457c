//! The generated code. Nothing is decided or refused here.
//!
//! All tokens have the span `mixed_site`, so that rustc knows them for ours; the user's
//! tokens keep theirs, so that rustc underlines them. Hygiene does not keep a local from
//! meeting a user's constant, nor an item or a method anything: their names are made so that
//! nobody has one of them, and methods that could be a trait's are called by path.
//!
//! What rustc may have to say of the user's code it says again of ours, but once where message
//! and place are the same. So that a mistake is two errors at most, what is made of an item hangs
//! on nothing that a second item could contradict, and names a type of the user's once.

pub(super) mod block;
mod call;
mod definition;
pub(super) mod function;
mod param;

pub(super) use function::stub;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

/// The names that generated code gives its locals.
struct Locals {
    arguments: Ident,
    context: Ident,
    reader: Ident,
    object: Ident,
}

impl Locals {
    fn new() -> Self {
        let name = |name| Ident::new(name, Span::mixed_site());
        Self {
            arguments: name("__agent_arguments"),
            context: name("__agent_context"),
            reader: name("__agent_reader"),
            object: name("__agent_object"),
        }
    }
}

/// The span for our tokens whose errors belong under a token of the user's.
fn located(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

/// What running a tool gives.
fn outcome(private: &TokenStream) -> TokenStream {
    quote_spanned! {Span::mixed_site()=>
        #private::Result<#private::ToolOutcome, #private::ToolError>
    }
}
