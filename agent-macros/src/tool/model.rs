//! What the attribute and the signature say, as plain data with spans.

use darling::Error;
use darling::util::SpannedValue;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, Ident, Pat, PatType, Path, ReturnType, Signature, Type, Visibility};

use super::args::{Effect, ParamArgs, ToolArgs};
use super::constraints::Constraints;
use super::default::Default;
use super::names;
use super::param_type::ParamType;
use crate::diagnostics::err;
use crate::docs::{self, Text};
use crate::signature::{FnItem, allowances, conditions, hides_keys};

/// A function that is to become a tool.
pub(super) struct ToolFn {
    pub(super) root: Option<Path>,
    pub(super) conditions: Vec<TokenStream>,
    pub(super) allowances: Vec<TokenStream>,
    pub(super) visibility: Visibility,
    pub(super) function: Ident,
    /// Its first and its last token.
    pub(super) ends: (Span, Span),
    pub(super) is_async: bool,
    pub(super) type_name: Ident,
    pub(super) name: SpannedValue<String>,
    pub(super) description: Text,
    pub(super) params: Vec<Param>,
    /// True if one parameter is the whole input.
    pub(super) whole: bool,
    /// Where the return type is written, or the function's name if it is not.
    pub(super) output: Span,
    /// The return type, if it is one that other code can name.
    pub(super) returns: Option<Type>,
    pub(super) return_direct: bool,
    pub(super) timeout_millis: Option<u64>,
    pub(super) effect: Option<Effect>,
    pub(super) max_calls: Option<u32>,
    pub(super) sequential: bool,
    pub(super) approval: bool,
    pub(super) strict: Option<Span>,
    pub(super) open: Option<Span>,
    pub(super) require_docs: bool,
    /// True if there is a doc comment or the key `description`.
    pub(super) is_described: bool,
    pub(super) register: bool,
}

impl ToolFn {
    pub(super) fn new(args: ToolArgs, mut params: Vec<Param>, item: &FnItem) -> Self {
        let function = item.signature.ident.clone();
        let plain = function.unraw().to_string();
        for param in &mut params {
            param.schemars |= args.schemars == Some(true);
        }
        let description = args
            .description
            .map(|text| Text::Known(text.into_inner()))
            .or_else(|| docs::description(&item.attributes));
        let is_on = |switch: Option<SpannedValue<bool>>| {
            switch.and_then(|switch| switch.then(|| switch.span()))
        };
        Self {
            root: args.root,
            conditions: conditions(&item.attributes),
            allowances: allowances(&item.attributes),
            visibility: item.visibility.clone(),
            is_async: item.signature.asyncness.is_some(),
            type_name: args.type_name.unwrap_or_else(|| function.clone()),
            name: args
                .name
                .unwrap_or_else(|| SpannedValue::new(plain.clone(), function.span())),
            function,
            ends: item.ends(),
            is_described: description.is_some(),
            description: description.unwrap_or_else(|| Text::Known(names::words(&plain))),
            params,
            output: match &item.signature.output {
                ReturnType::Default => item.signature.ident.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
            whole: args.args == Some(true),
            returns: match &item.signature.output {
                ReturnType::Type(_, ty) if is_nameable(ty) => Some((**ty).clone()),
                _ => None,
            },
            return_direct: args.return_direct == Some(true),
            timeout_millis: args.timeout,
            effect: args.effect,
            max_calls: args.max_calls,
            sequential: args.sequential == Some(true),
            approval: args.approval == Some(true),
            strict: is_on(args.strict),
            open: is_on(args.open),
            require_docs: args.require_docs == Some(true),
            register: args.register != Some(false),
        }
    }
}

/// False for `impl Trait` and `!`, which only a function can return.
fn is_nameable(ty: &Type) -> bool {
    fn has_impl(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "impl",
            TokenTree::Group(group) => has_impl(group.stream()),
            _ => false,
        })
    }
    !matches!(ty, Type::Never(_)) && !has_impl(ty.to_token_stream())
}

/// One parameter. Whether it is an argument or a context is for its type to say.
pub(super) struct Param {
    pub(super) conditions: Vec<TokenStream>,
    /// The property's name.
    pub(super) name: SpannedValue<String>,
    pub(super) ty: ParamType,
    pub(super) description: Option<Text>,
    pub(super) default: Option<Default>,
    pub(super) schemars: bool,
    pub(super) required: Option<SpannedValue<bool>>,
    pub(super) constraints: Constraints,
    /// Where a key stands that says something of a property.
    pub(super) of_property: Option<Span>,
}

/// The parameters of a signature; a `self` is left to the checks.
pub(super) fn params(signature: &Signature) -> darling::Result<Vec<Param>> {
    let mut errors = Error::accumulator();
    let typed = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(param) => Some(param),
        FnArg::Receiver(_) => None,
    });
    let params = typed
        .filter_map(|input| errors.handle(param(input)))
        .collect();
    errors.finish_with(params)
}

fn param(input: &PatType) -> darling::Result<Param> {
    let mut errors = Error::accumulator();
    let own_name = errors.handle(name(&input.pat));
    let ty = errors.handle(ParamType::new(&input.ty));
    let args = errors.handle(ParamArgs::parse(&input.attrs));
    for attribute in input.attrs.iter().filter(|it| hides_keys(it)) {
        errors.push(err!(
            attribute.path(),
            "`#[tool]` comes before `cfg_attr` is decided; write the parameter twice, each with its `#[cfg(…)]` and its `#[param(…)]`"
        ));
    }
    if let Some(args) = &args {
        errors.handle(args.fields_only());
    }
    let (Some(own_name), Some(ty), Some(args)) = (own_name, ty, args) else {
        return Err(errors
            .finish()
            .err()
            .unwrap_or_else(|| err!(input.pat.span(), "cannot be read")));
    };
    errors.handle(args.constraints.check(args.default.as_ref()));
    errors.handle(required(&args));
    errors.finish()?;
    let says_of_property = args.description.is_some()
        || args.rename.is_some()
        || args.default.is_some()
        || args.required.is_some();
    let attribute = input.attrs.iter().find(|it| it.path().is_ident("param"));
    Ok(Param {
        of_property: attribute
            .filter(|_| says_of_property)
            .map(|it| it.path().span()),
        conditions: conditions(&input.attrs),
        name: args.rename.unwrap_or(own_name),
        ty,
        description: args
            .description
            .map(|text| Text::Known(text.into_inner()))
            .or_else(|| docs::description(&input.attrs)),
        default: args.default,
        schemars: args.schemars == Some(true),
        required: args.required,
        constraints: args.constraints,
    })
}

/// Of a parameter with a default the model may leave out.
fn required(args: &ParamArgs) -> darling::Result<()> {
    match &args.required {
        Some(required) if **required && args.default.is_some() => Err(err!(
            required.span(),
            "a parameter with a `default` is never `required`; take one of the two away"
        )),
        _ => Ok(()),
    }
}

/// `city` of `city`, `mut city` and `_city`: the underscore speaks to rustc only.
fn name(pattern: &Pat) -> darling::Result<SpannedValue<String>> {
    let ident = match pattern {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            &pattern.ident
        }
        Pat::Wild(pattern) => {
            return Err(err!(
                pattern,
                "a tool's parameter needs a name, which the model is told; write `_name` if it is not used"
            ));
        }
        pattern => {
            return Err(err!(
                pattern.span(),
                "a tool's parameter needs a name, which the model is told; take it apart in the body"
            ));
        }
    };
    let plain = ident.unraw().to_string();
    let name = plain.trim_start_matches('_').to_owned();
    Ok(SpannedValue::new(name, ident.span()))
}
