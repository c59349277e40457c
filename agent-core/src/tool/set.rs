//! An ordered set of tools with unique names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use super::{Finding, IntoTools, ToolCallback, ToolError};
use crate::schema::Dialect;

/// Why tools cannot be a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSetError {
    /// Two tools have one name.
    #[error("two tools are named `{name}`: {first} and {second}")]
    Duplicate {
        /// The shared name.
        name: String,
        /// Where the first stands.
        first: String,
        /// Where the second stands.
        second: String,
    },
    /// A name no provider would take.
    #[error("tool name `{name}` must fit `^[a-zA-Z_][a-zA-Z0-9_-]{{0,63}}$`")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// A name that a provider keeps for a tool of its own.
    #[error(
        "tool name `{name}` is kept by {owner} for a tool of its own, and refused; take another, such as `run_{name}`"
    )]
    ReservedName {
        /// The name.
        name: String,
        /// Who keeps it.
        owner: &'static str,
    },
    /// A tool would get a name no provider would take.
    #[error(
        "tool `{from}` cannot be renamed to `{to}`: a name must fit `^[a-zA-Z_][a-zA-Z0-9_-]{{0,63}}$`"
    )]
    InvalidRename {
        /// Its name.
        from: String,
        /// The name it would get.
        to: String,
    },
    /// There is no tool of this name.
    #[error("no tool is named `{name}`; {}", there_are(.available))]
    NoSuchTool {
        /// The name.
        name: String,
        /// The names there are.
        available: Vec<String>,
    },
    /// A tool cannot have extra arguments.
    #[error("tool `{name}` cannot have the extra arguments: {problem}")]
    Augment {
        /// The tool's name.
        name: String,
        /// Why.
        problem: String,
    },
    /// The schema of an input is not one of an object, which every provider asks for.
    #[error("the input of tool `{name}` is no object, but {found}: make it a struct or a map")]
    InputNotAnObject {
        /// The tool's name.
        name: String,
        /// What the schema says instead.
        found: String,
    },
    /// The provider of the model would answer a request with these tools with an error.
    #[error("no tool set for dialect `{dialect}`: {finding}")]
    Refused {
        /// The dialect the provider takes tools in.
        dialect: Dialect,
        /// What it refuses, and why.
        finding: Box<Finding>,
    },
    /// Tools were asked for, but none is there.
    #[error(
        "no tool is registered: put `#[tool]` on a function, and if it stands in another crate, link that crate with `use the_crate as _;`"
    )]
    Empty,
}

/// So few names are faster compared than hashed.
const FEW: usize = 8;

/// Tools in a fixed order, each name once.
///
/// The order is the one they were given in; it is kept, so that the bytes a provider sees
/// are the same from request to request.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: Arc<Vec<Arc<dyn ToolCallback>>>,
    by_name: Arc<HashMap<String, usize>>,
}

impl ToolSet {
    /// The set of these tools.
    ///
    /// # Errors
    ///
    /// [`ToolSetError::Duplicate`] and [`ToolSetError::InvalidName`]; the first fault found.
    pub fn new(tools: impl IntoTools) -> Result<Self, ToolSetError> {
        Self::checked(tools.into_tools()).map_err(|mut faults| faults.swap_remove(0))
    }

    /// The set of these tools, or every fault of theirs; there is at least one.
    pub(crate) fn checked(tools: Vec<Arc<dyn ToolCallback>>) -> Result<Self, Vec<ToolSetError>> {
        let mut by_name = HashMap::new();
        let mut faults = Vec::new();
        for (position, tool) in tools.iter().enumerate() {
            let name = tool.definition().name().to_owned();
            if !is_valid_name(&name) {
                faults.push(ToolSetError::InvalidName { name });
                continue;
            }
            if let Some((_, owner)) = RESERVED.into_iter().find(|(kept, _)| *kept == name) {
                faults.push(ToolSetError::ReservedName { name, owner });
                continue;
            }
            if let Some(found) = tool.definition().input_schema().misses_object() {
                faults.push(ToolSetError::InputNotAnObject { name, found });
                continue;
            }
            match by_name.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(position);
                }
                Entry::Occupied(entry) => faults.push(ToolSetError::Duplicate {
                    name: entry.key().clone(),
                    first: place(&tools[*entry.get()]),
                    second: place(tool),
                }),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            tools: Arc::new(tools),
            by_name: Arc::new(by_name),
        })
    }

    /// The tools of several origins: the first of a name wins, which is logged.
    pub(crate) fn layered(sets: impl IntoIterator<Item = Self>) -> Self {
        let mut tools: Vec<Arc<dyn ToolCallback>> = Vec::new();
        let mut by_name = HashMap::new();
        for set in sets {
            for tool in set.iter() {
                let name = tool.definition().name();
                if by_name.contains_key(name) {
                    tracing::info!(
                        tool = name,
                        "a tool of this name is there already; the first is kept"
                    );
                    continue;
                }
                by_name.insert(name.to_owned(), tools.len());
                tools.push(Arc::clone(tool));
            }
        }
        Self {
            tools: Arc::new(tools),
            by_name: Arc::new(by_name),
        }
    }

    /// The set of these tools, which were a set or a part of one before.
    pub(super) fn of_unique(tools: Vec<Arc<dyn ToolCallback>>) -> Self {
        Self::layered([Self {
            tools: Arc::new(tools),
            by_name: Arc::default(),
        }])
    }

    /// The tools in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<dyn ToolCallback>> {
        self.tools.iter()
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn ToolCallback>> {
        if self.tools.len() <= FEW {
            let mut tools = self.tools.iter();
            return tools.find(|tool| tool.definition().name() == name);
        }
        self.by_name
            .get(name)
            .map(|position| &self.tools[*position])
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// True if there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.definition().name())
    }

    /// The tool a model means by `name`: that of the name, or of the part of it after the last
    /// `:`, `.` or `/`.
    pub(crate) fn find(&self, name: &str) -> Result<&Arc<dyn ToolCallback>, ToolError> {
        let shortened = || name.rsplit([':', '.', '/']).next().unwrap_or(name);
        self.get(name)
            .or_else(|| self.get(shortened()))
            .ok_or_else(|| ToolError::unknown(name, self.names()))
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Names that fit the rule and are refused all the same: by whom. `#[tool]` refuses them too.
///
/// Source: "The function name 'python' is reserved for use by this model", as the Responses API
/// says.
const RESERVED: [(&str, &str); 1] = [("python", "OpenAI")];

/// The rule every provider takes: see `spec` of OpenAI, Anthropic and Gemini function names.
pub(super) fn is_valid_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= 64
        && bytes
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn place(tool: &Arc<dyn ToolCallback>) -> String {
    match tool.metadata().location() {
        Some((file, line)) => format!("{file}:{line}"),
        None => "one made at run time".to_owned(),
    }
}

fn there_are(names: &[String]) -> String {
    if names.is_empty() {
        return "there is none".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("there are {}", names.join(", "))
}
