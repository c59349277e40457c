//! One tool call's arguments, from the text to one value per parameter.
//!
//! The text is read once, each value straight into its parameter's type, as long as it is
//! an object like most. Anything else, and all that is wrong, is worked out when it is met:
//! then each parameter decodes its own raw value, so that an error can name it. All faults of
//! a call are told at once.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::arguments::{broken, fitted, invalid, kept};
use super::cursor::{Cursor, Next};
use super::fault::{Fault, What, shown};
use super::fit::{MOST_NAMES, misnamed};
use super::nearest::nearest;
use super::param::Parameter;
use super::split::{Entry, FEW, split};
use super::{ParamKind, ToolContext, ToolError, ToolErrorKind, ToolParam};
use crate::schema::{Property, example};
use crate::secrets::Secrets;

/// Takes the arguments of one call apart, parameter by parameter.
#[derive(Debug)]
pub struct ArgumentReader<'a> {
    arguments: &'a str,
    context: &'a ToolContext,
    /// Where the text is read, until it ends or is split.
    cursor: Option<Cursor<'a>>,
    /// The parameters whose values the cursor has passed and that were asked for.
    read: Read,
    /// What few calls need.
    rest: Option<Box<Rest<'a>>>,
}

/// The parameters of most tools, without an allocation, and those of others.
#[derive(Debug, Default)]
struct Read {
    first: [Option<&'static Property>; 8],
    count: usize,
    more: Vec<&'static Property>,
}

/// What there is to know of a call whose arguments are not all there, in order and right.
#[derive(Debug, Default)]
struct Rest<'a> {
    /// The members that were not asked for yet.
    entries: Vec<Entry<'a>>,
    /// Why there is no object to read from; then no argument counts as missing.
    broken: Option<String>,
    /// The parameters that were not given, as far as somebody may want to know.
    absent: Vec<&'static Property>,
    faults: Vec<Fault>,
    error: Option<ToolError>,
}

/// What is to be done for a parameter.
enum Step<'a> {
    /// Its type takes the value, or what it has without one.
    Take(Option<&'a RawValue>),
    Default,
    Fault,
}

impl<'a> ArgumentReader<'a> {
    /// Starts to read. No text at all and `null` are no arguments.
    ///
    /// What is no JSON object is told by [`finish`](Self::finish), like any other fault.
    #[must_use]
    pub fn new(arguments: &'a str, context: &'a ToolContext) -> Self {
        let cursor = match arguments.as_bytes() {
            [b'{', .., b'}'] => Cursor::new(arguments),
            _ => Cursor::new(arguments.trim()),
        };
        let mut reader = Self {
            arguments,
            context,
            read: Read::default(),
            cursor,
            rest: None,
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
        parameter: &'static Parameter,
        default: Option<&mut dyn FnMut() -> T>,
    ) -> Option<T> {
        let property = &parameter.property;
        if let Some((cursor, at)) = self.next_value(parameter, default.is_some())
            && let Some(value) = cursor.value(at, T::__read)
        {
            let is_kept = property.constraints.is_none() || {
                let text = cursor.last();
                self.keeps(property, text)
            };
            self.read.push(property);
            return is_kept.then_some(value);
        }
        let raw = match self.step(parameter, default.is_some()) {
            Step::Take(raw) => raw,
            Step::Default => return default.map(|default| default()),
            Step::Fault => return None,
        };
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

    /// The cursor and the place of the value, if it stands before that parameter's.
    fn next_value(
        &mut self,
        parameter: &Parameter,
        has_default: bool,
    ) -> Option<(&mut Cursor<'a>, usize)> {
        let name = parameter.argument()?.name;
        if self.rest.as_ref().is_some_and(|rest| rest.holds(name)) {
            return None;
        }
        let cursor = self.cursor.as_mut()?;
        let at = cursor.value_of(name)?;
        let may_be_default = has_default && cursor.is_null(at);
        (!may_be_default).then_some((cursor, at))
    }

    /// Finds the raw value of a parameter, wherever it stands.
    #[cold]
    fn step(&mut self, parameter: &'static Parameter, has_default: bool) -> Step<'a> {
        if parameter.argument().is_none() {
            return Step::Take(None);
        }
        let property = &parameter.property;
        let raw = self.raw(property);
        let is_broken = self.rest.as_ref().is_some_and(|rest| rest.broken.is_some());
        match raw {
            _ if has_default && raw.is_none_or(|raw| raw.get() == "null") => match is_broken {
                true => Step::Fault,
                false => Step::Default,
            },
            None if property.is_demanded => {
                self.rest()
                    .faults
                    .push(Fault::missing(property.name, property));
                Step::Fault
            }
            _ => Step::Take(raw),
        }
    }

    /// Ends the reading. Arguments nobody asked for are dropped, and logged.
    ///
    /// # Errors
    ///
    /// All faults of the call in one error.
    pub fn finish(mut self) -> Result<(), ToolError> {
        if self.rest.is_none() && self.cursor.as_ref().is_none_or(Cursor::is_at_end) {
            return Ok(());
        }
        self.move_to_end();
        let rest = self.rest();
        if rest.error.is_some() || rest.broken.is_some() || !rest.faults.is_empty() {
            return Err(self.into_error());
        }
        for (name, _) in &rest.entries {
            tracing::debug!(argument = %name, "an argument the tool does not know was dropped");
        }
        Ok(())
    }

    /// The error of a call that cannot run: the host's fault first, else all of the model's.
    #[must_use]
    pub fn into_error(mut self) -> ToolError {
        self.move_to_end();
        let mut rest = *self.rest.unwrap_or_default();
        if let Some(error) = rest.error {
            return error;
        }
        if let Some(why) = rest.broken {
            let required = rest.absent.iter().filter(|it| it.is_required());
            let members = required.map(|it| Some((it.name.to_owned(), example(it)?)));
            let whole: Option<Map<String, Value>> = members.collect();
            return broken(&why, whole.map(Value::from));
        }
        rest.explain_names(self.context.secrets());
        invalid(&rest.faults)
    }

    /// Notes a failure under the argument's name, with the place inside it if that is known.
    fn fail(&mut self, parameter: &Parameter, raw: Option<&RawValue>, error: ToolError) {
        if error.kind() != ToolErrorKind::InvalidArguments {
            self.rest().error.get_or_insert(error);
            return;
        }
        let property = &parameter.property;
        let Some(raw) = raw else {
            self.rest()
                .faults
                .push(Fault::missing(property.name, property));
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
            self.rest().faults.extend(faults);
            return;
        }
        let text = error.to_string();
        let why = text.strip_prefix(Fault::UNNAMED).unwrap_or(&text);
        let fault = Fault::refused(property.name, raw.get(), why).with_example(&[], property);
        self.rest().faults.push(fault);
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
        match kept {
            Ok(()) => true,
            Err(faults) => {
                self.rest().faults.extend(faults);
                false
            }
        }
    }
}

/// How the members are found.
impl<'a> ArgumentReader<'a> {
    fn rest(&mut self) -> &mut Rest<'a> {
        self.rest.get_or_insert_default()
    }

    fn move_to_end(&mut self) {
        while let Some(cursor) = &mut self.cursor {
            let next = cursor.next();
            self.pass(next);
        }
    }

    /// Keeps a member for later, or leaves the cursor if there is none.
    fn pass(&mut self, next: Next<'a>) {
        let name = match next {
            Next::Member(name) => name,
            Next::End => return self.cursor = None,
            Next::Other => return self.split(),
        };
        let is_read = self.read.iter().any(|property| property.name == name);
        let raw = self.cursor.as_mut().and_then(Cursor::raw);
        let rest = self.rest();
        match raw {
            Some(raw) if !is_read && !rest.holds(name) && rest.entries.len() < FEW => {
                rest.entries.push((Cow::Borrowed(name), raw));
            }
            _ => self.split(),
        }
    }

    /// Leaves the cursor for the whole text at once, which also says what is wrong with it.
    #[cold]
    fn split(&mut self) {
        self.cursor = None;
        let read = std::mem::take(&mut self.read);
        let members = split(self.arguments, self.context.secrets());
        let rest = self.rest();
        match members {
            Ok(entries) => {
                rest.entries = entries;
                rest.entries
                    .retain(|(name, _)| read.iter().all(|property| property.name != name));
            }
            Err(why) => {
                rest.entries.clear();
                rest.absent.extend(read.iter());
                rest.broken = Some(why);
            }
        }
    }

    /// The raw value of a property, if there is one.
    fn raw(&mut self, property: &'static Property) -> Option<&'a RawValue> {
        while let Some(cursor) = &mut self.cursor
            && !self
                .rest
                .as_ref()
                .is_some_and(|rest| rest.holds(property.name))
        {
            match cursor.next() {
                Next::Member(name) if name == property.name => {
                    if let Some(raw) = cursor.raw() {
                        self.read.push(property);
                        return Some(raw);
                    }
                    self.split();
                }
                other => self.pass(other),
            }
        }
        self.entry(property)
    }

    /// The raw value of a member that the cursor has passed. What is absent is noted if it is
    /// worth that: there is a name it may have been meant by, or an example of the whole will
    /// be wanted.
    fn entry(&mut self, property: &'static Property) -> Option<&'a RawValue> {
        let rest = self.rest.as_mut()?;
        let is_it = |(name, _): &Entry<'_>| name == property.name;
        match rest.entries.iter().position(is_it) {
            Some(index) => {
                if self.cursor.is_some() {
                    self.read.push(property);
                }
                Some(rest.entries.swap_remove(index).1)
            }
            None => {
                if rest.broken.is_some() || !rest.entries.is_empty() {
                    rest.absent.push(property);
                }
                None
            }
        }
    }
}

impl Read {
    fn push(&mut self, property: &'static Property) {
        match self.first.get_mut(self.count) {
            Some(place) => *place = Some(property),
            None => self.more.push(property),
        }
        self.count += 1;
    }

    fn iter(&self) -> impl Iterator<Item = &'static Property> {
        self.first.iter().flatten().chain(&self.more).copied()
    }
}

impl Rest<'_> {
    fn holds(&self, name: &str) -> bool {
        self.entries.iter().any(|(key, _)| key == name)
    }

    /// Says of each name nobody asked for which one it may have been meant for.
    fn explain_names(&mut self, secrets: &Secrets) {
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
                    .push(Fault::unknown(shown(given, secrets), meant)),
            }
        }
    }
}
