//! The parts a message is made of: text and images. No file IO.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use smallvec::{SmallVec, smallvec};

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentPart {
    /// Plain text.
    Text(String),
    /// A picture.
    Image(Image),
}

impl ContentPart {
    /// The text, if this part is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) => None,
        }
    }
}

impl From<&str> for ContentPart {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ContentPart {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Image> for ContentPart {
    fn from(image: Image) -> Self {
        Self::Image(image)
    }
}

/// A picture: its media type and its encoded bytes (a PNG file's, for example).
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    media_type: String,
    data: Arc<[u8]>,
}

impl Image {
    /// A picture of `media_type`, for example `image/png`, and the bytes of its file.
    pub fn new(media_type: impl Into<String>, data: impl Into<Arc<[u8]>>) -> Self {
        Self {
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// The media type, for example `image/png`.
    #[must_use]
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The bytes of the file.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The bytes in standard base64 with padding (RFC 4648, section 4).
    #[must_use]
    pub fn base64(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(&self.data)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {} bytes)", self.media_type, self.data.len())
    }
}

/// The parts of a result: most are one, which needs no memory of its own.
pub(crate) type Parts = SmallVec<[ContentPart; 1]>;

/// Parts that a caller has in a list.
pub(crate) fn parts(mut list: Vec<ContentPart>) -> Parts {
    match (list.len(), list.pop()) {
        (1, Some(one)) => smallvec![one],
        (_, last) => {
            list.extend(last);
            list.into()
        }
    }
}

/// The text parts, joined by a line break.
pub(crate) fn text_of(parts: &[ContentPart]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(ContentPart::as_text).collect();
    texts.join("\n")
}
