//! A tool made of a closure at run time.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::closure::{ToolFn, ToolFuture};
use super::closure_output::ClosureOutput;
use super::{
    Effect, InputSchema, ToolCallback, ToolContext, ToolDefinition, ToolError, ToolMetadata,
    ToolOutcome, blocking,
};
use crate::boxed::BoxFuture;
use crate::schema::{self, Schema, SchemaError};

type Run = dyn for<'a> Fn(&'a str, &'a ToolContext) -> BoxFuture<'a, Result<ToolOutcome, ToolError>>
    + Send
    + Sync;

type Check = Box<dyn Fn(&str, &ToolContext) -> Result<(), ToolError> + Send + Sync>;

/// A tool made of a closure at run time.
///
/// `#[tool]` is for functions; this is for what is only known when the program runs: a
/// closure that captures, a name from a configuration, a schema from elsewhere.
///
/// The closure takes nothing, an input, or an input and the [`ToolContext`]. The input is
/// the whole arguments object: a type with [`ToolSchema`](crate::ToolSchema) whose schema is
/// an object, or [`Schemars<T>`](crate::schema::Schemars). What the closure gives is
/// `Serialize`, or a [`ToolOutput`](crate::ToolOutput) or the like, or a `Result` of that;
/// it is shown as that of a `#[tool]` is. Where the error of a `Result` is both an `Error` and
/// `Serialize`, rustc cannot choose (E0283): `.map_err(ToolError::failed)` says which is meant.
///
/// ```
/// use std::sync::Arc;
///
/// use agent_core::tool::{Effect, FunctionTool};
/// use agent_core::{ToolContext, ToolSchema, ToolSet};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, ToolSchema)]
/// struct Search {
///     /// What the title holds
///     words: String,
/// }
///
/// let articles = Arc::new(vec!["On rust", "On iron"]);
/// let search = FunctionTool::new("search", "Finds articles.", move |search: Search| {
///     let articles = Arc::clone(&articles);
///     async move {
///         let fits = articles.iter().filter(|title| title.contains(&search.words));
///         fits.copied().collect::<Vec<_>>()
///     }
/// })
/// .effect(Effect::Pure);
///
/// let now = FunctionTool::new("now", "The time.", async || "12:30");
/// let load = FunctionTool::blocking("load", "Loads a file.", |search: Search, context: ToolContext| {
///     context.check_cancelled()?;
///     std::fs::read_to_string(search.words).map_err(agent_core::ToolError::failed)
/// });
///
/// let tools = ToolSet::new([search, now, load])?;
/// assert_eq!(tools.len(), 3);
/// # Ok::<(), agent_core::tool::ToolSetError>(())
/// ```
pub struct FunctionTool {
    definition: ToolDefinition,
    metadata: ToolMetadata,
    /// What arguments must pass before the closure reads them.
    check: Option<Check>,
    /// True if the closure reads what the schema says, and no type does.
    reads_raw: bool,
    run: Arc<Run>,
}

impl FunctionTool {
    /// A tool of an async closure or function.
    ///
    /// Its schema is that of the input, which must be an object: a
    /// [`ToolSet`](crate::ToolSet) takes no other.
    // rustc shows the line of a bound that does not hold, also in the functions below.
    #[track_caller]
    #[must_use]
    pub fn new<A, M>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        f: impl ToolFn<A, Output: ToolFuture<Value: ClosureOutput<M>> + Send>, // error `Serialize` too? `.map_err(ToolError::failed)`
    ) -> Self {
        let input = InputSchema::of_input(input_of(&f));
        Self::of_async(ToolDefinition::new(name, description, input), f)
    }

    /// A tool of a plain closure or function, which runs on a thread that may block.
    ///
    /// When its time is over or the run is cancelled, its context's token says so; it is not
    /// stopped.
    #[track_caller]
    #[must_use]
    pub fn blocking<A, M>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        f: impl ToolFn<A, Output: ClosureOutput<M>>, // error `Serialize` too? `.map_err(ToolError::failed)`
    ) -> Self {
        let input = InputSchema::of_input(input_of(&f));
        Self::of_blocking(ToolDefinition::new(name, description, input), f)
    }

    /// A tool of an async closure and a JSON Schema known only at run time.
    ///
    /// The closure's input is of any type; `serde_json::Value` takes the arguments as they
    /// are. With the feature `validate`, arguments that do not fit the schema are an error
    /// the model reads, and the closure does not run; without it they are only known to be
    /// an object.
    ///
    /// Null for a property that may be absent and cannot be null is taken out before, as a
    /// strict schema asks the model for it.
    ///
    /// A `type` or `properties` that the schema's root does not have is that of an object.
    ///
    /// ```
    /// use agent_core::tool::FunctionTool;
    /// use serde_json::{Value, json};
    ///
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": {"city": {"type": "string", "minLength": 1}},
    ///     "required": ["city"],
    /// });
    /// let tool = FunctionTool::from_schema("weather", "Weather.", schema, async |input: Value| {
    ///     format!("{}: 4 °C", input["city"])
    /// })?;
    ///
    /// let wrong = json!({"type": "object", "properties": {"city": {"type": "text"}}});
    /// let error = FunctionTool::from_schema("weather", "Weather.", wrong, async || ()).unwrap_err();
    /// assert_eq!(error.faults()[0].pointer, "/properties/city/type");
    /// # Ok::<(), agent_core::schema::SchemaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SchemaError`] if the schema is not one of an object, or no JSON Schema; it lists
    /// every place. With the feature `validate` also if it holds a value to a chain of more than
    /// 250 schemas, or to more than 10000.
    #[track_caller]
    pub fn from_schema<A, M>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: Value,
        f: impl ToolFn<A, Output: ToolFuture<Value: ClosureOutput<M>> + Send>, // error `Serialize` too? `.map_err(ToolError::failed)`
    ) -> Result<Self, SchemaError> {
        let (input, check) = given(schema)?;
        Ok(Self {
            check,
            reads_raw: true,
            ..Self::of_async(ToolDefinition::new(name, description, input), f)
        })
    }

    /// A tool of a plain closure and a JSON Schema, as
    /// [`from_schema`](Self::from_schema) and [`blocking`](Self::blocking).
    ///
    /// # Errors
    ///
    /// Those of [`from_schema`](Self::from_schema).
    #[track_caller]
    pub fn blocking_from_schema<A, M>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: Value,
        f: impl ToolFn<A, Output: ClosureOutput<M>>, // error `Serialize` too? `.map_err(ToolError::failed)`
    ) -> Result<Self, SchemaError> {
        let (input, check) = given(schema)?;
        Ok(Self {
            check,
            reads_raw: true,
            ..Self::of_blocking(ToolDefinition::new(name, description, input), f)
        })
    }

    #[track_caller]
    fn of_async<A, M>(
        definition: ToolDefinition,
        f: impl ToolFn<A, Output: ToolFuture<Value: ClosureOutput<M>> + Send>, // error `Serialize` too? `.map_err(ToolError::failed)`
    ) -> Self {
        let f = Arc::new(f);
        Self {
            definition,
            metadata: located(),
            check: None,
            reads_raw: false,
            run: Arc::new(move |arguments, context| {
                let f = Arc::clone(&f);
                Box::pin(async move {
                    let running = f.apply(arguments, context)?;
                    running.running().await.into_outcome()
                })
            }),
        }
    }

    #[track_caller]
    fn of_blocking<A, M>(
        definition: ToolDefinition,
        f: impl ToolFn<A, Output: ClosureOutput<M>>, // error `Serialize` too? `.map_err(ToolError::failed)`
    ) -> Self {
        let f = Arc::new(f);
        Self {
            definition,
            metadata: located().blocking(true),
            check: None,
            reads_raw: false,
            run: Arc::new(move |arguments, context| {
                let f = Arc::clone(&f);
                let (arguments, own) = (arguments.to_owned(), context.clone());
                Box::pin(blocking::run(context, move || {
                    f.apply(&arguments, &own)?.into_outcome()
                }))
            }),
        }
    }

    /// The longest one call may take, the wait for a free slot included. Default: the agent's
    /// limit.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.metadata = self.metadata.timeout(limit);
        self
    }

    /// How many of its calls run at once, in all runs of an agent; for a tool that one run brings,
    /// or that a resolver finds, in that run. Default: no limit of its own.
    ///
    /// A call that runs the agent once more keeps its slot meanwhile: if that run calls the same
    /// tool and no slot is left, the tool waits for itself until its time is over.
    #[must_use]
    pub fn max_parallel(mut self, limit: u32) -> Self {
        self.metadata = self.metadata.max_parallel(limit);
        self
    }

    /// Most of its calls in a turn; an agent's limit holds as well. 0 is taken for 1. Default:
    /// no limit of its own.
    #[must_use]
    pub fn max_calls(mut self, limit: u32) -> Self {
        self.metadata = self.metadata.max_calls(limit);
        self
    }

    /// Whether no other call of the turn may run at the same time: those before it end first,
    /// those after it start later. Default: others may.
    #[must_use]
    pub fn sequential(mut self, sequential: bool) -> Self {
        self.metadata = self.metadata.sequential(sequential);
        self
    }

    /// Whether a person must approve each call before it runs. Default: nobody must.
    #[must_use]
    pub fn approval(mut self, approval: bool) -> Self {
        self.metadata = self.metadata.approval(approval);
        self
    }

    /// What running the tool twice would do. Default: [`Effect::Once`].
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.metadata = self.metadata.effect(effect);
        self
    }

    /// Whether the result is the run's answer, without another model call. Default: it is
    /// not.
    #[must_use]
    pub fn return_direct(mut self, direct: bool) -> Self {
        self.metadata = self.metadata.return_direct(direct);
        self
    }
}

/// The input of a schema known only at run time, and the check of arguments against it.
fn given(schema: Value) -> Result<(InputSchema, Option<Check>), SchemaError> {
    let schema = schema::checked(schema)?;
    #[cfg(feature = "validate")]
    let check = {
        let validator = super::validate::Validator::of(&schema)?;
        let schema = schema.clone();
        let check = move |arguments: &str, context: &ToolContext| {
            super::validate::validate(&validator, &schema, arguments, context)
        };
        Some(Box::new(check) as Check)
    };
    #[cfg(not(feature = "validate"))]
    let check = None;
    Ok((InputSchema::from_value(schema), check))
}

fn input_of<A, F: ToolFn<A>>(_: &F) -> Option<&'static Schema> {
    F::INPUT
}

#[track_caller]
fn located() -> ToolMetadata {
    let place = Location::caller();
    ToolMetadata::new().located(place.file(), place.line())
}

impl ToolCallback for FunctionTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        &self.metadata
    }

    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        match self.without_optional_nulls(arguments) {
            Some(arguments) => Box::pin(async move { self.run_checked(&arguments, context).await }),
            None => self.run_checked(arguments, context),
        }
    }
}

impl FunctionTool {
    /// The arguments without the nulls by which a strict schema says that nothing is given;
    /// `None` if there are none, or if a type reads them, which knows that itself.
    fn without_optional_nulls(&self, arguments: &str) -> Option<String> {
        if !self.reads_raw || !arguments.contains("null") {
            return None;
        }
        let given: Value = serde_json::from_str(arguments).ok()?;
        let schema = self.definition.input_schema().value();
        let left = schema::without_optional_nulls(&schema, given.clone());
        (left != given).then(|| left.to_string())
    }

    fn run_checked<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        match self.check.as_ref().map(|check| check(arguments, context)) {
            Some(Err(error)) => Box::pin(std::future::ready(Err(error))),
            _ => (self.run)(arguments, context),
        }
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool")
            .field("definition", &self.definition)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
