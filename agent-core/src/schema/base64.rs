//! Bytes that a model writes as base64 text.

use std::fmt;
use std::ops::Deref;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Schema, ToolSchema};

const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, ANY_PADDING);
const FOR_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, ANY_PADDING);

/// Bytes, given and shown as base64 text.
///
/// A `Vec<u8>` is a list of numbers to a model, which costs it a token or more for each
/// byte. Both alphabets of RFC 4648 are read, with and without padding; the standard one,
/// with padding, is written.
///
/// ```
/// use agent_core::{tool, schema::Base64};
///
/// /// Stores a picture.
/// #[tool]
/// fn store(picture: Base64) -> String {
///     format!("{} bytes", picture.len())
/// }
///
/// assert_eq!(
///     store::DEFINITION.input_schema().value()["properties"]["picture"],
///     serde_json::json!({"type": "string", "contentEncoding": "base64"}),
/// );
/// assert_eq!(serde_json::from_str::<Base64>("\"aGk=\"")?, Base64(b"hi".to_vec()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Base64(pub Vec<u8>);

impl ToolSchema for Base64 {
    const SCHEMA: Schema = Schema::Base64;
}

impl Deref for Base64 {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Base64 {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<Base64> for Vec<u8> {
    fn from(bytes: Base64) -> Self {
        bytes.0
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let engine = if text.contains(['-', '_']) {
            &FOR_URLS
        } else {
            &PLAIN
        };
        match engine.decode(text.trim_ascii()) {
            Ok(bytes) => Ok(Self(bytes)),
            Err(error) => Err(serde::de::Error::custom(format_args!(
                "not base64: {error}"
            ))),
        }
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&PLAIN.encode(&self.0))
    }
}

/// The number of bytes, as they can be many.
impl fmt::Debug for Base64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} bytes)", self.0.len())
    }
}
