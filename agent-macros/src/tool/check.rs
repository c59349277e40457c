//! What a tool may not be. Each check reports all it finds.

use std::collections::HashMap;

use darling::Error;
use syn::{FnArg, GenericParam, Safety, Signature};

use super::model::{Param, ToolFn};
use super::names;
use crate::diagnostics::err;

/// Refuses what no call from a model could supply or bear.
pub(super) fn signature(signature: &Signature) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    if let Some(token) = &signature.constness {
        errors.push(err!(
            token,
            "a tool runs when the model calls it, so it cannot be a `const fn`"
        ));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.push(err!(
            token,
            "a tool cannot be an `unsafe fn`: the model cannot uphold its contract"
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
            "a tool has a fixed number of parameters"
        ));
    }
    for parameter in &signature.generics.params {
        errors.push(match parameter {
            GenericParam::Lifetime(lifetime) => err!(
                lifetime,
                "a tool has no lifetimes: its arguments live as long as the call; write `&T` or `T`"
            ),
            parameter => err!(
                parameter,
                "a tool cannot be generic: the schema needs one concrete type"
            ),
        });
    }
    for input in &signature.inputs {
        if let FnArg::Receiver(receiver) = input {
            errors.push(err!(
                receiver.self_token,
                "a tool is a free function without `self`"
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
    for twin in twins(&tool.params) {
        errors.push(err!(
            twin.name.span(),
            "there is a parameter `{}` already; give one another name with `#[param(rename = \"…\")]`",
            *twin.name
        ));
    }
    errors.finish()
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
