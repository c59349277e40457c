//! What the attribute and the signature say, as plain data with spans.

use darling::Error;
use darling::util::SpannedValue;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, Ident, Pat, PatType, Path, ReturnType, Signature, Visibility};

use super::args::{Effect, ParamArgs, ToolArgs};
use super::constraints::Constraints;
use super::default::Default;
use super::names;
use super::param_type::ParamType;
use crate::diagnostics::err;
use crate::docs::{self, Text};
use crate::signature::{FnItem, allowances, conditions};

/// A function that is to become a tool.
pub(super) struct ToolFn {
    pub(super) root: Option<Path>,
    pub(super) conditions: Vec<TokenStream>,
    pub(super) allowances: Vec<TokenStream>,
    pub(super) visibility: Visibility,
    pub(super) function: Ident,
    pub(super) is_async: bool,
    pub(super) type_name: Ident,
    pub(super) name: SpannedValue<String>,
    pub(super) description: Text,
    pub(super) params: Vec<Param>,
    /// Where the return type is written, or the function's name if it is not.
    pub(super) output: Span,
    pub(super) return_direct: bool,
    pub(super) timeout_millis: Option<u64>,
    pub(super) effect: Option<Effect>,
    pub(super) register: bool,
}

impl ToolFn {
    pub(super) fn new(args: ToolArgs, mut params: Vec<Param>, item: &FnItem) -> Self {
        let function = item.signature.ident.clone();
        let plain = function.unraw().to_string();
        for param in &mut params {
            param.schemars |= args.schemars.is_present();
        }
        let description = args
            .description
            .map(|text| Text::Known(text.into_inner()))
            .or_else(|| docs::description(&item.attributes))
            .unwrap_or_else(|| Text::Known(names::words(&plain)));
        Self {
            root: args.root,
            conditions: conditions(&item.attributes),
            allowances: allowances(&item.attributes),
            visibility: item.visibility.clone(),
            is_async: item.signature.asyncness.is_some(),
            type_name: args.type_name.unwrap_or_else(|| function.clone()),
            name: args
                .name
                .unwrap_or_else(|| SpannedValue::new(plain, function.span())),
            function,
            description,
            params,
            output: match &item.signature.output {
                ReturnType::Default => item.signature.ident.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
            return_direct: args.return_direct == Some(true),
            timeout_millis: args.timeout,
            effect: args.effect,
            register: args.register != Some(false),
        }
    }
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
    Ok(Param {
        conditions: conditions(&input.attrs),
        name: args.rename.unwrap_or(own_name),
        ty,
        description: args
            .description
            .map(|text| Text::Known(text.into_inner()))
            .or_else(|| docs::description(&input.attrs)),
        default: args.default,
        schemars: args.schemars.is_present(),
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
