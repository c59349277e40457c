//! Takes out of a cassette what must not be shared.

use serde_json::Value;

use crate::secrets::Secrets;

const MASK: &str = "***";

/// Names, in lower case and without `-` and `_`, whose texts are secret.
const SECRET_NAMES: [&str; 23] = [
    "authorization",
    "proxyauthorization",
    "apikey",
    "xapikey",
    "apisecret",
    "apitoken",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "idtoken",
    "refreshtoken",
    "sessiontoken",
    "clientsecret",
    "secret",
    "secretkey",
    "secretaccesskey",
    "password",
    "passwd",
    "passphrase",
    "cookie",
    "setcookie",
    "privatekey",
    "signingkey",
];

/// Masks secrets in every text of the value.
pub(super) fn scrub(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => *text = scrub_json(text, secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| scrub(item, secrets)),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if is_secret(name) => MASK.clone_into(text),
                    member => scrub(member, secrets),
                }
            }
        }
        _ => {}
    }
}

/// Masks secrets in a JSON text, or in any other.
pub(super) fn scrub_json(text: &str, secrets: &Secrets) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(mut value @ (Value::Object(_) | Value::Array(_))) => {
            let before = value.clone();
            scrub(&mut value, secrets);
            // What is not touched stays as it was written.
            match value == before {
                true => text.to_owned(),
                false => value.to_string(),
            }
        }
        _ => masked(text, secrets),
    }
}

fn is_secret(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|character| !matches!(character, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect();
    SECRET_NAMES.contains(&&*plain)
}

pub(super) fn masked(text: &str, secrets: &Secrets) -> String {
    const BEARER: &str = "Bearer ";
    let text = secrets.mask(text);
    let mut rest = &*text;
    let mut out = String::new();
    while let Some(at) = rest.find(BEARER) {
        let (before, after) = rest.split_at(at + BEARER.len());
        let ends = |character: char| character.is_whitespace() || "\"',;".contains(character);
        let end = after.find(ends).unwrap_or(after.len());
        out.push_str(before);
        if end > 0 {
            out.push_str(MASK);
        }
        rest = &after[end..];
    }
    out + rest
}
