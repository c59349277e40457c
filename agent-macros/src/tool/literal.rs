//! Literals of Rust as the JSON they stand for.

use std::fmt;

use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

/// A value that a literal, or a list of literals, stands for. Its text is JSON.
#[derive(Clone)]
pub(super) enum Literal {
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Literal>),
}

/// A number; a float with its JSON text.
#[derive(Clone)]
pub(super) enum Number {
    Integer(i128),
    Float(f64, String),
}

impl Literal {
    /// What the expression stands for, if it is a literal.
    pub(super) fn of(expression: &Expr) -> Option<Self> {
        match expression {
            Expr::Group(group) => Self::of(&group.expr),
            Expr::Lit(ExprLit { lit, .. }) => match lit {
                Lit::Bool(value) => Some(Self::Bool(value.value)),
                Lit::Str(text) => Some(Self::Text(text.value())),
                Lit::Char(value) => Some(Self::Text(value.value().to_string())),
                lit => number(lit, "").map(Self::Number),
            },
            Expr::Unary(ExprUnary {
                op: UnOp::Neg(_),
                expr,
                ..
            }) => match &**expr {
                Expr::Lit(ExprLit { lit, .. }) => number(lit, "-").map(Self::Number),
                _ => None,
            },
            Expr::Array(array) => {
                let items: Option<Vec<Self>> = array.elems.iter().map(Self::of).collect();
                items.map(Self::List)
            }
            _ => None,
        }
    }
}

fn number(literal: &Lit, sign: &str) -> Option<Number> {
    match literal {
        Lit::Int(value) => {
            let text = format!("{sign}{}", value.base10_digits());
            text.parse().ok().map(Number::Integer)
        }
        Lit::Float(value) => {
            let digits = value.base10_digits();
            // Rust reads `1.`, JSON does not.
            let zero = if digits.ends_with('.') { "0" } else { "" };
            let text = format!("{sign}{digits}{zero}");
            let value = text.parse().ok()?;
            Some(Number::Float(value, text))
        }
        _ => None,
    }
}

impl Number {
    /// Whether a bound can be this large.
    pub(super) fn is_a_bound(&self) -> bool {
        match self {
            Self::Integer(value) => i64::try_from(*value).is_ok(),
            Self::Float(value, _) => value.is_finite(),
        }
    }

    pub(super) fn is_above(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one > other,
            (one, other) => one.as_float() > other.as_float(),
        }
    }

    fn as_float(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Float(value, _) => *value,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(_, text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
        }
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if control < ' ' => {
                json.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
