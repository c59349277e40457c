//! What a tool may not be. Each check reports all it finds.

use std::collections::{HashMap, HashSet};

use darling::Error;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{
    GenericArgument, GenericParam, PathArguments, ReceiverKind, ReturnType, Safety, Signature, Type,
};

use super::model::{Param, ToolFn};
use super::names;
use super::param_type::{check_returned, ungrouped};
use crate::block::ImplBlock;
use crate::diagnostics::err;

/// Refuses what no call from a model could supply or bear.
pub(super) fn signature(signature: &Signature) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    if let Some(token) = &signature.constness {
        errors.push(err!(
            token,
            "a tool runs when the model calls it, so it cannot be a `const fn`; write `fn`"
        ));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.push(err!(
            token,
            "a tool cannot be an `unsafe fn`: the model cannot uphold its contract; make it one of a safe function that calls this one"
        ));
    }
    if let Some(abi) = &signature.abi {
        errors.push(err!(
            abi.extern_token,
            "a tool cannot be an `extern fn`; write `fn` or `async fn`"
        ));
    }
    if let Some(variadic) = &signature.variadic {
        errors.push(err!(
            variadic.dots,
            "a tool has a fixed number of parameters; for any number of values write a parameter of type `Vec<T>`"
        ));
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        if let Type::Never(never) = &**ty {
            errors.push(err!(
                never,
                "a tool that never returns has nothing to tell the model; write the type it returns"
            ));
        }
        errors.handle(check_returned(ty));
    }
    for parameter in &signature.generics.params {
        errors.push(match parameter {
            GenericParam::Lifetime(lifetime) => err!(
                lifetime,
                "a tool has no lifetimes: its arguments live as long as the call; write `&T` or `T`"
            ),
            parameter => err!(
                parameter,
                "a tool cannot be generic: the schema needs one concrete type; take this away and write that type"
            ),
        });
    }
    errors.finish()
}

/// Refuses what only a function of an `impl` block has, in one that is alone: `self` and `Self`.
pub(super) fn no_receiver(signature: &Signature) -> darling::Result<()> {
    match (signature.receiver(), own_type(signature.to_token_stream())) {
        (Some(receiver), _) => Err(err!(
            receiver.self_token,
            "a method is a tool only together with its `impl` block; write `#[tool]` above that too"
        )),
        (None, Some(own)) => Err(err!(
            own,
            "a function of an `impl` block is a tool only with `&self`, and with `#[tool]` above the block too"
        )),
        (None, None) => Ok(()),
    }
}

/// The first `Self`.
pub(super) fn own_type(tokens: TokenStream) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => Some(ident),
        TokenTree::Group(group) => own_type(group.stream()),
        _ => None,
    })
}

/// Refuses a method of an `impl` block that does not borrow the shared object.
pub(super) fn receiver(signature: &Signature) -> darling::Result<()> {
    let Some(receiver) = signature.receiver() else {
        return Err(err!(
            signature.ident,
            "a tool of an `impl` block takes its object as `&self`; add it, or make this a free function"
        ));
    };
    match &receiver.kind {
        ReceiverKind::Reference(_, _, Some(token)) => Err(err!(
            token,
            "all calls share the object, also side by side; write `&self` and keep what changes in a `Mutex` or an atomic"
        )),
        ReceiverKind::Reference(_, Some(lifetime), None) if lifetime.ident == "static" => {
            Err(err!(
                lifetime,
                "the object lives as long as the agent, not `'static`; write `&self`"
            ))
        }
        ReceiverKind::Reference(..) => Ok(()),
        ReceiverKind::Typed(_, ty) if is_reference_to_self(ty) => Ok(()),
        ReceiverKind::Typed(_, ty) => Err(err!(
            ty.span(),
            "a tool borrows the object that all calls share; write `&self`"
        )),
        _ => Err(err!(
            receiver.self_token,
            "a tool cannot take the object away from its other calls; write `&self`"
        )),
    }
}

fn is_reference_to_self(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else {
        return false;
    };
    let is_self = matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("Self"));
    is_self && reference.mutability.is_none()
}

/// Refuses an `impl` block whose methods cannot share one object of one type.
pub(super) fn block(block: &ImplBlock) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    if let Some(path) = &block.of_trait {
        errors.push(err!(
            path,
            "a trait's `impl` block cannot have tools; put them in the type's own: `#[tool] impl Type`"
        ));
    }
    if !is_own_type(&block.self_type) {
        errors.push(err!(
            block.self_type.span(),
            "an object with tools is of a type of your own; write them for a struct that holds this"
        ));
    }
    for parameter in &block.generics.params {
        errors.push(match parameter {
            GenericParam::Lifetime(lifetime) => err!(
                lifetime,
                "an object with tools borrows nothing, as the agent keeps it; let it own its parts or hold them by `Arc`"
            ),
            parameter => err!(
                parameter,
                "an `impl` block with tools cannot be generic; write it for one type: `impl Store<Db>`"
            ),
        });
    }
    if block.generics.params.is_empty()
        && let Some(lifetime) = lifetime_inside(&block.self_type)
    {
        errors.push(err!(
            lifetime,
            "an object with tools borrows nothing, as the agent keeps it; let it own its parts or hold them by `Arc`"
        ));
    }
    errors.finish()
}

/// False for a type that no crate can give methods to.
fn is_own_type(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Path(_) | Type::Macro(_))
}

/// The first lifetime but `'static` among the type's arguments.
fn lifetime_inside(ty: &Type) -> Option<&syn::Lifetime> {
    let Type::Path(path) = ty else {
        return None;
    };
    path.path.segments.iter().find_map(|segment| {
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
            return None;
        };
        arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Lifetime(lifetime) if lifetime.ident != "static" => Some(lifetime),
            GenericArgument::Type(ty) => lifetime_inside(ty),
            _ => None,
        })
    })
}

/// Refuses an `impl` block in which nothing is a tool.
pub(super) fn any_method(block: &ImplBlock) -> darling::Result<()> {
    match block.methods().next() {
        Some(_) => Ok(()),
        None => Err(err!(
            block.impl_token,
            "no method is marked; put `#[tool]` on each method that is to be a tool"
        )),
    }
}

/// Refuses two tools of one name. Of two with a `cfg` one may be gone.
pub(super) fn tools(tools: &[ToolFn]) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    let mut seen = HashSet::new();
    for tool in tools.iter().filter(|tool| tool.conditions.is_empty()) {
        if !seen.insert(tool.name.as_str()) {
            errors.push(err!(
                tool.name.span(),
                "there is a tool `{}` already; give one another name with `#[tool(name = \"…\")]`",
                *tool.name
            ));
        }
    }
    errors.finish()
}

/// Checks the names, alone and beside each other.
pub(super) fn tool(tool: &ToolFn) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    errors.handle(names::tool(&tool.name));
    for param in &tool.params {
        errors.handle(names::parameter(&param.name));
    }
    for param in tool.params.iter().filter(|_| tool.whole) {
        errors.handle(param.constraints.refuse());
        if let Some(span) = param.of_property {
            errors.push(err!(
                span,
                "with `args` the parameter is the whole input, no property of it; say this at the fields of its type"
            ));
        }
    }
    if let (Some(_), Some(open)) = (tool.strict, tool.open) {
        errors.push(err!(
            open,
            "a strict tool takes no other properties than its own; leave out `open` or `strict`"
        ));
    }
    if tool.require_docs && !tool.is_described {
        errors.push(err!(
            tool.function.span(),
            "`require_docs` wants a description of the tool; write a doc comment above it"
        ));
    }
    for twin in twins(&tool.params) {
        errors.push(err!(
            twin.name.span(),
            "there is a parameter `{}` already; give one another name with `#[param(rename = \"…\")]`",
            *twin.name
        ));
    }
    errors.finish()
}

/// Refuses a type for the tool that would take a name away from the code around it.
pub(super) fn type_name(tool: &ToolFn) -> darling::Result<()> {
    let name = tool.type_name.unraw().to_string();
    match names::hidden_by(&name) {
        Some(what) => Err(err!(
            tool.type_name,
            "the type made for the tool would hide the {what} `{name}`; give it another name: `#[tool(type = {}Tool)]`",
            names::camel_case(&name)
        )),
        None => Ok(()),
    }
}

/// The parameters whose name an earlier one has. Of two with a `cfg` one may be gone.
fn twins(params: &[Param]) -> Vec<&Param> {
    let mut seen = HashMap::new();
    let mut twins = Vec::new();
    for param in params.iter().filter(|param| param.conditions.is_empty()) {
        if seen.insert(param.name.as_str(), param).is_some() {
            twins.push(param);
        }
    }
    twins
}
