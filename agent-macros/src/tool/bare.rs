//! What no value of a model can be, wherever it stands in a parameter's type: a type without a
//! size, a pointer, a placeholder.
//!
//! Much of it is no type of a parameter in Rust either. As the compiler tells of that once at
//! the function and again at each thing made of it, such a type is not shown to it.
//!
//! Which types hold what is known by name, only for words: a type of another name is left to
//! the compiler.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, PathSegment, Type};

use super::param_type::{is_unsized, owned_form, ungrouped};
use crate::diagnostics::err;

/// Types whose arguments have a size.
const CONTAINERS: [&str; 10] = [
    "Option",
    "Vec",
    "VecDeque",
    "LinkedList",
    "BinaryHeap",
    "HashSet",
    "BTreeSet",
    "HashMap",
    "BTreeMap",
    "Result",
];

/// Types whose argument may lack a size.
const POINTERS: [&str; 4] = ["Box", "Arc", "Rc", "Cow"];

/// Refuses each such part of a type.
pub(super) fn check(ty: &Type, errors: &mut darling::error::Accumulator) {
    walk(ty, Holder::Nothing, true, &mut |fault| {
        errors.push(err!(fault.place, "{}", fault.text));
    });
}

/// True if the compiler would refuse it too, in any function.
pub(crate) fn is_no_parameter_in_rust(ty: &Type) -> bool {
    let (ty, mut found) = match ungrouped(ty) {
        Type::Reference(reference) => (&*reference.elem, false),
        Type::TraitObject(_) => (ty, true),
        _ => (ty, is_unsized(ty)),
    };
    walk(ty, Holder::Nothing, true, &mut |fault| {
        found |= fault.is_rusts;
    });
    found
}

/// What a type stands in.
#[derive(Clone, Copy, PartialEq)]
enum Holder {
    Nothing,
    Container,
    Pointer,
    /// The parameter that lends a value of the host's.
    Host,
    /// A type of which nothing is known.
    Other,
}

struct Fault {
    place: Span,
    text: String,
    is_rusts: bool,
}

/// `is_data` is false inside of types that the model need not fill.
fn walk(ty: &Type, holder: Holder, is_data: bool, found: &mut impl FnMut(Fault)) {
    let mut fault = |place: Span, text: String, is_rusts: bool| {
        found(Fault {
            place,
            text,
            is_rusts,
        });
    };
    let sized = matches!(holder, Holder::Container | Holder::Host);
    match ungrouped(ty) {
        Type::TraitObject(object) if holder == Holder::Host => fault(
            object.span(),
            "a host value has a size of its own; write `Arc<dyn …>` here".to_owned(),
            true,
        ),
        Type::TraitObject(object) if sized || (holder == Holder::Pointer && is_data) => fault(
            object.span(),
            "a tool cannot take any type that has a trait: the schema needs one concrete type; write it here".to_owned(),
            sized,
        ),
        ty if sized && is_unsized(ty) => fault(
            ty.span(),
            format!("a type without a size cannot stand here; write {}", owned_form(ty)),
            true,
        ),
        Type::FnPtr(pointer) if is_data => fault(
            pointer.fn_token.span,
            "a model sends data, no functions; let it choose one by an enum, and call that in the body".to_owned(),
            false,
        ),
        Type::Ptr(pointer) if is_data => fault(
            pointer.star_token.span,
            "a model sends values, no addresses; write the type that is pointed to".to_owned(),
            false,
        ),
        Type::Infer(placeholder) => fault(
            placeholder.span(),
            "the model is told the type of each argument; write it here".to_owned(),
            true,
        ),
        Type::Never(never) => fault(
            never.span(),
            "nothing is of this type, so no model can send it; write another".to_owned(),
            true,
        ),
        Type::Slice(slice) => walk(&slice.elem, Holder::Container, is_data, found),
        Type::Array(array) => walk(&array.elem, Holder::Container, is_data, found),
        Type::Tuple(tuple) => {
            for ty in &tuple.elems {
                walk(ty, Holder::Container, is_data, found);
            }
        }
        Type::Path(path) => {
            for segment in &path.path.segments {
                let holder = held_by(segment);
                let is_data = is_data && matches!(holder, Holder::Container | Holder::Pointer);
                for ty in arguments(segment) {
                    walk(ty, holder, is_data, found);
                }
            }
        }
        _ => {}
    }
}

fn held_by(segment: &PathSegment) -> Holder {
    let is_one_of = |names: &[&str]| names.iter().any(|name| segment.ident == name);
    if is_one_of(&CONTAINERS) {
        Holder::Container
    } else if is_one_of(&POINTERS) {
        Holder::Pointer
    } else if segment.ident == "Host" {
        Holder::Host
    } else {
        Holder::Other
    }
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|it| match it {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
