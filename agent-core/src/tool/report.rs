//! What a provider takes, changes and refuses of a set of tools.

use std::borrow::Cow;
use std::fmt;

use super::{ToolDefinition, ToolSet, ToolSetError};
use crate::schema::{Change, ChangeEffect, Dialect, Sent, plan};

/// What becomes of tools in a dialect: as data, and by `Display` as a table.
///
/// ```
/// use agent_core::schema::Dialect;
/// use agent_core::{ToolSet, tool, tools};
/// use std::collections::HashMap;
///
/// #[tool]
/// fn label(tags: HashMap<String, String>) {}
///
/// let report = ToolSet::new(tools![label])?.report(Dialect::OpenAiStrict);
/// assert!(report.is_accepted());
/// assert!(!report.tools()[0].strict);
/// assert_eq!(report.findings()[0].pointer, "/properties/tags");
/// println!("{report}");
/// # Ok::<(), agent_core::tool::ToolSetError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ToolReport {
    dialect: Dialect,
    tools: Vec<ReportedTool>,
    findings: Vec<Finding>,
}

/// How one tool is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportedTool {
    /// The tool's name.
    pub name: String,
    /// Whether it is sent with `strict: true`.
    pub strict: bool,
}

/// One thing that a dialect changes or a provider refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The tool's name; empty if the set as a whole is meant.
    pub tool: String,
    /// Where in the tool's neutral schema, as a JSON pointer; empty for the tool as a whole.
    pub pointer: String,
    /// What, for example `` `maxLength` ``.
    pub what: Cow<'static, str>,
    /// Why, and what is done instead.
    pub why: Cow<'static, str>,
    /// How bad it is.
    pub severity: Severity,
}

/// How bad a [`Finding`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// It is said in another way, or told in the description; arguments are checked as before.
    Info,
    /// A tool that was to be strict is not.
    Warning,
    /// The provider answers the request with an error.
    Error,
}

impl Severity {
    fn of(effect: ChangeEffect) -> Self {
        match effect {
            ChangeEffect::Same | ChangeEffect::Narrower | ChangeEffect::Looser => Self::Info,
            ChangeEffect::NotStrict => Self::Warning,
            ChangeEffect::Refused => Self::Error,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl ToolReport {
    /// What becomes of these tools in one request.
    pub(crate) fn of<'a>(
        dialect: Dialect,
        definitions: impl IntoIterator<Item = &'a ToolDefinition>,
    ) -> Self {
        let definitions: Vec<&ToolDefinition> = definitions.into_iter().collect();
        let written = |it: &&'a ToolDefinition| it.input_schema().in_dialect(dialect);
        let sent = plan(dialect, definitions.iter().map(written));
        let mut report = Self {
            dialect,
            tools: Vec::new(),
            findings: Vec::new(),
        };
        report.count(definitions.len());
        for (definition, sent) in definitions.into_iter().zip(sent) {
            report.add(definition, &sent);
        }
        // Stable: within one severity, in the order of the tools and of their schemas.
        report
            .findings
            .sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        report
    }

    /// The dialect it is about.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// How each tool is sent, in order.
    #[must_use]
    pub fn tools(&self) -> &[ReportedTool] {
        &self.tools
    }

    /// All findings, the worst first.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The findings for which the provider answers with an error.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
    }

    /// True if the provider takes the tools as they are sent, as far as its rules are known.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The errors, as reasons why the tools are no set for this provider.
    pub(crate) fn refusals(self) -> impl Iterator<Item = ToolSetError> {
        let dialect = self.dialect;
        let errors = self.findings.into_iter();
        errors
            .filter(|finding| finding.severity == Severity::Error)
            .map(move |finding| ToolSetError::Refused {
                dialect,
                finding: Box::new(finding),
            })
    }

    fn count(&mut self, tools: usize) {
        if let Some(limit) = self.dialect.limits().tools.filter(|limit| tools > *limit) {
            self.find(
                "",
                Severity::Error,
                "number of tools",
                format!("there are {tools}; one request can have {limit}"),
            );
        }
    }

    fn add(&mut self, definition: &ToolDefinition, sent: &Sent) {
        let limits = self.dialect.limits();
        for (what, text, limit) in [
            ("name", definition.name(), limits.name),
            ("description", definition.description(), limits.description),
        ] {
            let is = text.chars().count();
            if let Some(limit) = limit.filter(|limit| is > *limit) {
                self.find(
                    definition.name(),
                    Severity::Error,
                    what,
                    format!("has {is} characters; it can have {limit}"),
                );
            }
        }
        let input = definition.input_schema();
        let mut written = input.in_dialect(self.dialect);
        if let Sent::Lenient { what, is, limit } = sent {
            written = input.in_dialect(self.dialect.lenient());
            self.find(
                definition.name(),
                Severity::Warning,
                what,
                format!(
                    "with this tool there would be {is}; the tools of one request can have {limit}"
                ),
            );
        }
        self.tools.push(ReportedTool {
            name: definition.name().to_owned(),
            strict: written.strict,
        });
        self.findings.extend(written.changes.iter().map(|change| {
            let Change {
                pointer,
                what,
                why,
                effect,
                ..
            } = change.clone();
            Finding {
                tool: definition.name().to_owned(),
                pointer,
                what,
                why,
                severity: Severity::of(effect),
            }
        }));
    }

    fn find(&mut self, tool: &str, severity: Severity, what: &'static str, why: String) {
        self.findings.push(Finding {
            tool: tool.to_owned(),
            pointer: String::new(),
            what: what.into(),
            why: why.into(),
            severity,
        });
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.tool.is_empty() {
            write!(f, "tool `{}`: ", self.tool)?;
        }
        write!(f, "{}", self.what)?;
        if !self.pointer.is_empty() {
            write!(f, " at `{}`", self.pointer)?;
        }
        write!(f, ": {}", self.why)
    }
}

impl fmt::Display for ToolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self.tools.len();
        write!(f, "dialect {}, tools: {tools}", self.dialect)?;
        if self.dialect.is_strict() {
            let strict = self.tools.iter().filter(|tool| tool.strict).count();
            write!(f, ", strict: {strict}")?;
        }
        writeln!(f, ", findings: {}", self.findings.len())?;
        let rows: Vec<[&str; 5]> = self
            .findings
            .iter()
            .map(|it| {
                [
                    it.severity.name(),
                    &*it.tool,
                    &*it.pointer,
                    &*it.what,
                    &*it.why,
                ]
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let head = ["severity", "tool", "where", "what", "why"];
        let width = |column: usize| {
            let cells = rows
                .iter()
                .chain([&head])
                .map(|row| row[column].chars().count());
            cells.max().unwrap_or_default()
        };
        let widths = [width(0), width(1), width(2), width(3)];
        for row in [&head].into_iter().chain(&rows) {
            for (cell, width) in row.iter().zip(widths) {
                write!(f, "{cell:width$}  ")?;
            }
            writeln!(f, "{}", row[4])?;
        }
        Ok(())
    }
}

impl ToolSet {
    /// What a provider takes, changes and refuses of these tools.
    pub fn report(&self, dialect: Dialect) -> ToolReport {
        ToolReport::of(dialect, self.iter().map(|tool| tool.definition()))
    }
}
