//! What a tool gives back, and how a value becomes what the model reads.
//!
//! Text stays as it is, everything else that serde can write becomes compact JSON, an
//! image stays an image.
//!
//! Not here: how generated code picks a conversion for a return type (`tool::probe`).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::process::Output;

use serde::Serialize;
use serde_json::{Value, json};
use smallvec::smallvec;

use super::{ToolError, ToolOutcome};
use crate::boxed::BoxError;
use crate::message::{ContentPart, Image, Parts, parts};

/// What a tool call gave: the parts the model reads, and the value they were made from.
///
/// ```
/// use agent_core::ToolOutput;
/// use serde_json::json;
///
/// # fn main() -> Result<(), agent_core::ToolError> {
/// let output = ToolOutput::json(&json!({"degrees": 21}))?;
/// assert_eq!(output.text(), r#"{"degrees":21}"#);
/// assert_eq!(output.value(), Some(json!({"degrees": 21})));
/// assert_eq!(ToolOutput::from_text("21 degrees").value(), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    content: Parts,
    structure: Structure,
}

#[derive(Debug, Clone, PartialEq)]
enum Structure {
    /// There is no value beside the content.
    None,
    /// The text is the value's JSON.
    Text,
    Value(Value),
}

impl ToolOutput {
    /// Text, as it is.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            content: smallvec![ContentPart::Text(text.into())],
            structure: Structure::None,
        }
    }

    /// Text and images, in order.
    #[must_use]
    pub fn from_parts(content: Vec<ContentPart>) -> Self {
        Self {
            content: parts(content),
            structure: Structure::None,
        }
    }

    /// A value as compact JSON; a value that serde writes as one string is text. JSON has no word
    /// for a float that is infinite or no number: the model reads `null`.
    ///
    /// # Errors
    ///
    /// [`Failed`](super::ToolErrorKind::Failed) if the value cannot be written as JSON.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, ToolError> {
        let text = json_text(value).map_err(ToolError::failed)?;
        // Only the JSON of a string opens with a quote.
        let plain = text
            .starts_with('"')
            .then(|| serde_json::from_str::<String>(&text));
        Ok(match plain {
            Some(Ok(plain)) => Self::from_text(plain),
            _ => Self {
                content: smallvec![ContentPart::Text(text)],
                structure: Structure::Text,
            },
        })
    }

    /// Gives the output a value for the program that reads it; the model does not see it.
    #[must_use]
    pub fn with_value(mut self, value: Value) -> Self {
        self.structure = Structure::Value(value);
        self
    }

    /// What the model reads.
    #[must_use]
    pub fn content(&self) -> &[ContentPart] {
        &self.content
    }

    /// What the model reads, given up for the caller.
    #[must_use]
    pub fn into_content(self) -> Vec<ContentPart> {
        self.content.into_vec()
    }

    pub(crate) fn into_parts(self) -> Parts {
        self.content
    }

    /// The text parts, joined by a line break.
    #[must_use]
    pub fn text(&self) -> String {
        crate::message::text_of(&self.content)
    }

    /// The value the output was made from; `None` for plain text.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        match &self.structure {
            Structure::None => None,
            Structure::Text => serde_json::from_str(&self.text()).ok(),
            Structure::Value(value) => Some(value.clone()),
        }
    }
}

/// Most bytes of a text that is written before there is room for it.
const SHORT: usize = 64;

/// The JSON of a value. A history keeps what it is given, and `serde_json` makes room for 128 bytes.
fn json_text<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let mut short = [0; SHORT];
    let mut room = &mut short[..];
    match serde_json::to_writer(&mut room, value) {
        Ok(()) => {
            let length = SHORT - room.len();
            Ok(String::from_utf8_lossy(&short[..length]).into_owned())
        }
        Err(error) if error.is_io() => serde_json::to_string(value),
        Err(error) => Err(error),
    }
}

/// A value that the model reads as compact JSON.
///
/// ```
/// use agent_core::{IntoToolOutput, tool::{Json, ToolOutcome}};
///
/// # fn main() -> Result<(), agent_core::ToolError> {
/// let ToolOutcome::Done(output) = Json(vec![1, 2]).into_tool_output()? else {
///     unreachable!("a value is never an interrupt");
/// };
/// assert_eq!(output.text(), "[1,2]");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Json<T>(pub T);

/// A type that a tool can return.
///
/// A tool may also return any `Serialize` type, alone or in a `Result`; implement this
/// trait for a type that is to be shown in another way.
///
/// ```
/// use agent_core::{IntoToolOutput, ToolError, tool::ToolOutcome};
///
/// struct Celsius(f64);
///
/// impl IntoToolOutput for Celsius {
///     fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
///         format!("{} °C", self.0).into_tool_output()
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown to a model",
    label = "not a tool's return type",
    note = "a tool returns text, `()`, `Json<T>`, an image, a `Serialize` type, or a `Result` of one of them whose error is an `Error`",
    note = "derive `serde::Serialize` or implement `IntoToolOutput` for it; what gives a future is written `async fn`"
)]
pub trait IntoToolOutput {
    /// What the call gave.
    ///
    /// # Errors
    ///
    /// The error the value stands for, or one of the conversion.
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError>;
}

fn done(output: ToolOutput) -> Result<ToolOutcome, ToolError> {
    Ok(ToolOutcome::Done(output))
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        done(ToolOutput::from_text("Done"))
    }
}

impl IntoToolOutput for &str {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        done(ToolOutput::from_text(self))
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        done(ToolOutput::from_text(self))
    }
}

impl IntoToolOutput for Cow<'_, str> {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        done(ToolOutput::from_text(self))
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        ToolOutput::json(&self.0).and_then(done)
    }
}

/// The model is given the image; the value is its media type and base64 data.
impl IntoToolOutput for Image {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        let value = json!({"mimeType": self.media_type(), "data": self.base64()});
        done(ToolOutput::from_parts(vec![self.into()]).with_value(value))
    }
}

impl IntoToolOutput for Vec<ContentPart> {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        done(ToolOutput::from_parts(self))
    }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        done(self)
    }
}

impl IntoToolOutput for ToolOutcome {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        Ok(self)
    }
}

/// `None` is `null`.
impl<T: IntoToolOutput> IntoToolOutput for Option<T> {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        match self {
            Some(value) => value.into_tool_output(),
            None => ToolOutput::json(&()).and_then(done),
        }
    }
}

/// An `Err` fails the call; a [`ToolError`] inside it is taken out and kept as it is.
impl<T: IntoToolOutput, E: Into<BoxError>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        self.map_err(ToolError::failed)?.into_tool_output()
    }
}

/// Exit code, standard output and standard error of a command, as one text.
///
/// A command that failed is no error of the tool: the model reads what it said. Bytes
/// that are not UTF-8 are replaced, and a note says so.
impl IntoToolOutput for Output {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        let mut text = match self.status.code() {
            Some(code) => format!("exit code: {code}"),
            None => "exit code: none, a signal ended the command".to_owned(),
        };
        for (name, bytes) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if bytes.is_empty() {
                continue;
            }
            let stream = String::from_utf8_lossy(bytes);
            let note = match stream {
                Cow::Borrowed(_) => "",
                Cow::Owned(_) => " (not valid UTF-8, what could not be read is \u{fffd})",
            };
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\n{name}{note}:\n{}", stream.trim_end_matches('\n'));
        }
        done(ToolOutput::from_text(text))
    }
}
