//! One tool call's arguments, from the text to one value per parameter.
//!
//! The text is read once, each value straight into its parameter's type, as long as it is
//! an object like most. Anything else, and all that is wrong, is worked out when it is met:
//! then each parameter decodes its own raw value, so that an error can name it. All faults of
//! a call are told at once.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::arguments::{fitted, invalid, kept};
use super::cursor::{Cursor, Next};
use super::fault::{Fault, What, shown};
use super::fit::{MOST_NAMES, misnamed};
use super::nearest::nearest;
use super::param::Parameter;
use super::split::{Entry, FEW, split};
use super::{ParamKind, ToolContext, ToolError, ToolErrorKind, ToolParam};
use crate::schema::{Property, example};

/// Room for the parameters of most tools.
const USUAL: usize = 8;

/// Takes the arguments of one call apart, parameter by parameter.
#[derive(Debug)]
pub struct ArgumentReader<'a> {
    arguments: &'a str,
    context: &'a ToolContext,
    /// Where the text is read, until it ends or is split.
    cursor: Option<Cursor<'a>>,
    /// The parameters whose values the cursor has passed and that were asked for.
    read: Vec<Property>,
    /// The members that were not asked for yet.
    entries: Vec<Entry<'a>>,
    /// Why there is no object to read from; then no argument counts as missing.
    broken: Option<String>,
    /// The parameters that were not given, as far as somebody may want to know.
    absent: Vec<Property>,
    faults: Vec<Fault>,
    error: Option<ToolError>,
}

impl<'a> ArgumentReader<'a> {
    /// Starts to read. No text at all and `null` are no arguments.
    ///
    /// What is no JSON object is told by [`finish`](Self::finish), like any other fault.
    #[must_use]
    pub fn new(arguments: &'a str, context: &'a ToolContext) -> Self {
        let cursor = Cursor::new(if arguments.ends_with('}') {
            arguments.trim_start()
        } else {
            arguments.trim()
        });
        let mut reader = Self {
            arguments,
            context,
            read: Vec::with_capacity(if cursor.is_some() { USUAL } else { 0 }),
            cursor,
            entries: Vec::new(),
            broken: None,
            absent: Vec::new(),
            faults: Vec::new(),
            error: None,
        };
        if reader.cursor.is_none() {
            reader.split();
        }
        reader
    }

    /// The value of a parameter; `None` if there is a fault. `default` stands for an argument
    /// that is absent or `null`.
    pub(super) fn read<T: ToolParam>(
        &mut self,
        parameter: &Parameter,
        default: Option<&mut dyn FnMut() -> T>,
    ) -> Option<T> {
        let property = &parameter.property;
        let raw = if parameter.argument().is_none() {
            None
        } else if let Some(cursor) = self.move_to(property.name) {
            let may_be_default = default.is_some() && cursor.is_null();
            if !may_be_default && let Some(value) = cursor.value(T::__read) {
                let is_kept = property.constraints.is_none() || {
                    let text = cursor.last();
                    self.keeps(property, text)
                };
                self.read.push(*property);
                return is_kept.then_some(value);
            }
            self.raw(property)
        } else {
            self.entry(property)
        };
        if let Some(default) = default
            && raw.is_none_or(|raw| raw.get() == "null")
        {
            return self.broken.is_none().then(default);
        }
        if raw.is_none() && property.is_demanded {
            self.faults.push(Fault::missing(property.name, property));
            return None;
        }
        match T::take(raw, self.context) {
            Ok(value) => raw
                .is_none_or(|raw| self.keeps(property, raw.get()))
                .then_some(value),
            Err(error) => {
                self.fail(parameter, raw, error);
                None
            }
        }
    }

    /// Ends the reading. Arguments nobody asked for are dropped, and logged.
    ///
    /// # Errors
    ///
    /// All faults of the call in one error.
    pub fn finish(mut self) -> Result<(), ToolError> {
        self.move_to_end();
        if self.error.is_some() || self.broken.is_some() || !self.faults.is_empty() {
            return Err(self.into_error());
        }
        for (name, _) in &self.entries {
            tracing::debug!(argument = %name, "an argument the tool does not know was dropped");
        }
        Ok(())
    }

    /// The error of a call that cannot run: the host's fault first, else all of the model's.
    #[must_use]
    pub fn into_error(mut self) -> ToolError {
        self.move_to_end();
        if let Some(error) = self.error {
            return error;
        }
        if let Some(broken) = self.broken {
            let required = self.absent.iter().filter(|it| it.is_required());
            let members = required.map(|it| Some((it.name.to_owned(), example(it)?)));
            let whole: Option<Map<String, Value>> = members.collect();
            return ToolError::invalid_arguments(match whole {
                Some(whole) => format!("{broken}; for example: {}", Value::from(whole)),
                None => broken,
            });
        }
        self.explain_names();
        invalid(&self.faults)
    }

    /// Says of each name nobody asked for which one it may have been meant for.
    fn explain_names(&mut self) {
        for (given, _) in self.entries.iter().take(MOST_NAMES) {
            let names = self.absent.iter().map(|property| property.name);
            let Some(meant) = nearest(given, names) else {
                continue;
            };
            let is_missing = |fault: &&mut Fault| {
                fault.path == meant && matches!(fault.what, What::Missing { .. })
            };
            match self.faults.iter_mut().find(is_missing) {
                Some(fault) => fault.hint = Some(misnamed(given)),
                None => self
                    .faults
                    .push(Fault::unknown(shown(given, self.context.secrets()), meant)),
            }
        }
    }

    /// Notes a failure under the argument's name, with the place inside it if that is known.
    fn fail(&mut self, parameter: &Parameter, raw: Option<&RawValue>, error: ToolError) {
        if error.kind() != ToolErrorKind::InvalidArguments {
            self.error.get_or_insert(error);
            return;
        }
        let property = &parameter.property;
        let Some(raw) = raw else {
            self.faults.push(Fault::missing(property.name, property));
            return;
        };
        if let ParamKind::Argument { schema, .. } = parameter.kind
            && let Err(faults) = fitted(
                schema,
                property.constraints,
                raw.get(),
                property.name,
                self.context.secrets(),
            )
        {
            self.faults.extend(faults);
            return;
        }
        let text = error.to_string();
        let why = text.strip_prefix(Fault::UNNAMED).unwrap_or(&text);
        self.faults
            .push(Fault::refused(property.name, why).with_example(property));
    }

    /// True if a value that its type has read keeps the constraints of its parameter.
    fn keeps(&mut self, property: &Property, text: &str) -> bool {
        let Some(constraints) = property.constraints else {
            return true;
        };
        let kept = kept(
            property.schema,
            Some(constraints),
            text,
            property.name,
            self.context.secrets(),
        );
        let is_kept = kept.is_ok();
        self.faults.extend(kept.err().into_iter().flatten());
        is_kept
    }
}

/// How the members are found.
impl<'a> ArgumentReader<'a> {
    /// The cursor before the value of that name, if there is such a member further on.
    fn move_to(&mut self, name: &str) -> Option<&mut Cursor<'a>> {
        if self.entries.iter().any(|(key, _)| key == name) {
            return None;
        }
        loop {
            match self.cursor.as_mut()?.next(name) {
                Next::Expected => return self.cursor.as_mut(),
                other => self.pass(other),
            }
        }
    }

    fn move_to_end(&mut self) {
        while let Some(cursor) = &mut self.cursor {
            match cursor.next("") {
                Next::End => self.cursor = None,
                Next::Expected => self.pass(Next::Member("")),
                other => self.pass(other),
            }
        }
    }

    /// Keeps a member for later, or leaves the cursor if there is none.
    #[cold]
    fn pass(&mut self, next: Next<'a>) {
        let name = match next {
            Next::Member(name) => name,
            Next::End => return self.cursor = None,
            Next::Expected | Next::Other => return self.split(),
        };
        let is_new = self.entries.iter().all(|(key, _)| key != name)
            && self.read.iter().all(|property| property.name != name);
        match self.cursor.as_mut().and_then(Cursor::raw) {
            Some(raw) if is_new && self.entries.len() < FEW => {
                self.entries.push((Cow::Borrowed(name), raw));
            }
            _ => self.split(),
        }
    }

    /// Leaves the cursor for the whole text at once, which also says what is wrong with it.
    #[cold]
    fn split(&mut self) {
        self.cursor = None;
        match split(self.arguments, self.context.secrets()) {
            Ok(entries) => {
                self.entries = entries;
                let read = &self.read;
                self.entries
                    .retain(|(name, _)| read.iter().all(|property| property.name != name));
            }
            Err(why) => {
                self.entries.clear();
                self.absent.append(&mut self.read);
                self.broken = Some(why);
            }
        }
    }

    /// The raw value at the cursor, which is that of the property.
    #[cold]
    fn raw(&mut self, property: &Property) -> Option<&'a RawValue> {
        let Some(raw) = self.cursor.as_mut().and_then(Cursor::raw) else {
            self.split();
            return self.entry(property);
        };
        self.read.push(*property);
        Some(raw)
    }

    /// The raw value of a member that the cursor has passed. What is absent is noted if it is
    /// worth that: there is a name it may have been meant by, or an example of the whole will
    /// be wanted.
    fn entry(&mut self, property: &Property) -> Option<&'a RawValue> {
        let index = self
            .entries
            .iter()
            .position(|(name, _)| name == property.name);
        match index {
            Some(index) => {
                if self.cursor.is_some() {
                    self.read.push(*property);
                }
                Some(self.entries.swap_remove(index).1)
            }
            None => {
                if self.broken.is_some() || !self.entries.is_empty() {
                    self.absent.push(*property);
                }
                None
            }
        }
    }
}
