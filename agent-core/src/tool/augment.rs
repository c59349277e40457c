//! Arguments added to tools from outside: the model is asked for more than the tool takes.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::split::split;
use super::{
    InputSchema, ToolCallback, ToolContext, ToolDefinition, ToolError, ToolMetadata, ToolOutcome,
    ToolParam, ToolSet, ToolSetError,
};
use crate::boxed::BoxFuture;
use crate::schema::{ToolSchema, move_definitions, root};

/// The arguments a call has beyond those of its tool, as [`ToolSet::augment`] hands them on.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExtraArguments<'a, A> {
    /// The extra arguments.
    pub value: A,
    /// What the model was told about the tool, the extra arguments included.
    pub definition: &'a ToolDefinition,
    /// All arguments of the call, as the model wrote them.
    pub arguments: &'a str,
    /// The context of the call.
    pub context: &'a ToolContext,
}

impl ToolSet {
    /// The same tools, each with the properties of `A` added to its input.
    ///
    /// Before a tool runs, the extra arguments are taken out of the call and handed to
    /// `consumer`; the tool does not see them. Ones that do not fit `A` are an error the model
    /// reads, and neither `consumer` nor the tool runs. All else of a tool stays as it is.
    ///
    /// `A` says what they are like, as for any tool: its fields are required unless they have a
    /// default or are an `Option`, and described by their doc comments.
    ///
    /// ```
    /// use agent_core::tool::{ExtraArguments, FunctionTool};
    /// use agent_core::{ToolSchema, ToolSet};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, ToolSchema)]
    /// struct Reason {
    ///     /// Why this tool is called
    ///     reason: Option<String>,
    /// }
    ///
    /// let now = ToolSet::new(FunctionTool::new("now", "The time.", async || "12:30"))?;
    /// let now = now.augment(|extra: ExtraArguments<'_, Reason>| {
    ///     tracing::info!(tool = extra.definition.name(), reason = extra.value.reason);
    /// })?;
    /// assert_eq!(
    ///     now.get("now").unwrap().definition().input_schema().value()["properties"]["reason"],
    ///     serde_json::json!({"type": ["string", "null"], "description": "Why this tool is called"}),
    /// );
    /// # Ok::<(), agent_core::tool::ToolSetError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ToolSetError::Augment`] if the schema of `A` is not one of an object with
    /// properties, or a tool has an argument of the same name.
    pub fn augment<A>(
        &self,
        consumer: impl Fn(ExtraArguments<'_, A>) + Send + Sync + 'static,
    ) -> Result<Self, ToolSetError>
    where
        A: ToolSchema + DeserializeOwned + 'static,
    {
        self.augmented(consumer, Own::Left)
    }

    /// As [`augment`](Self::augment), but the extra arguments stay in the call: a tool that
    /// takes its arguments as they are sees them too. One whose own schema is closed refuses
    /// them where arguments are validated.
    ///
    /// # Errors
    ///
    /// As [`augment`](Self::augment).
    pub fn augment_keeping<A>(
        &self,
        consumer: impl Fn(ExtraArguments<'_, A>) + Send + Sync + 'static,
    ) -> Result<Self, ToolSetError>
    where
        A: ToolSchema + DeserializeOwned + 'static,
    {
        self.augmented(consumer, Own::AndExtra)
    }

    fn augmented<A>(
        &self,
        consumer: impl Fn(ExtraArguments<'_, A>) + Send + Sync + 'static,
        given: Own,
    ) -> Result<Self, ToolSetError>
    where
        A: ToolSchema + DeserializeOwned + 'static,
    {
        let extra = root(&A::SCHEMA);
        let consumer = Arc::new(consumer);
        let augmented = |tool: &Arc<dyn ToolCallback>| {
            let definition = tool.definition();
            let input = joined(definition.input_schema().value(), &extra).map_err(|problem| {
                ToolSetError::Augment {
                    name: definition.name().to_owned(),
                    problem,
                }
            })?;
            let hosts = definition.required_hosts();
            Ok(Arc::new(Augmented {
                definition: definition.with_input(InputSchema::from_value(input).asking(hosts)),
                names: names(&extra),
                given,
                tool: Arc::clone(tool),
                consumer: Arc::clone(&consumer),
                extra: PhantomData,
            }) as Arc<dyn ToolCallback>)
        };
        self.iter()
            .map(augmented)
            .collect::<Result<Vec<_>, _>>()
            .map(Self::of_unique)
    }
}

fn names(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(Map::keys);
    names.cloned().collect()
}

/// The input with the properties, the definitions and the required names of `extra`.
fn joined(input: Value, extra: &Value) -> Result<Value, String> {
    let Value::Object(mut input) = input else {
        return Err("its input is no object".to_owned());
    };
    if !extra.get("properties").is_some_and(Value::is_object) {
        return Err("they are not the properties of an object".to_owned());
    }
    if ["anyOf", "oneOf", "allOf"]
        .iter()
        .any(|key| input.contains_key(*key))
    {
        return Err("its input is put together of several objects".to_owned());
    }
    let mut extra = extra.clone();
    move_definitions(&mut input, &mut extra);
    let own = input
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    let Value::Object(own) = own else {
        return Err("its `properties` is no object".to_owned());
    };
    let added = extra.get_mut("properties").map(Value::take);
    for (name, schema) in added
        .as_ref()
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if own.contains_key(name) {
            return Err(format!("it has an argument `{name}` of its own"));
        }
        own.insert(name.clone(), schema.clone());
    }
    let added = extra.get("required").and_then(Value::as_array);
    if let Some(added) = added.filter(|added| !added.is_empty()) {
        let own = input
            .entry("required")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(own) = own {
            own.extend(added.iter().cloned());
        }
    }
    Ok(input.into())
}

/// What of its call's arguments an augmented tool is given.
#[derive(Clone, Copy)]
enum Own {
    /// Those that are left without the extra ones.
    Left,
    AndExtra,
}

/// A tool whose calls have extra arguments.
struct Augmented<A, F> {
    definition: ToolDefinition,
    /// The names of the extra arguments.
    names: Vec<String>,
    given: Own,
    tool: Arc<dyn ToolCallback>,
    consumer: Arc<F>,
    extra: PhantomData<fn() -> A>,
}

impl<A, F> Augmented<A, F>
where
    A: ToolSchema + DeserializeOwned,
    F: Fn(ExtraArguments<'_, A>),
{
    /// Hands the extra arguments on and gives back what the tool is given.
    fn take_out<'a>(
        &self,
        arguments: &'a str,
        context: &ToolContext,
    ) -> Result<Cow<'a, str>, ToolError> {
        let members = split(arguments, context.secrets()).map_err(ToolError::invalid_arguments)?;
        let (extra, own): (Vec<_>, Vec<_>) = members
            .into_iter()
            .partition(|(name, _)| self.names.iter().any(|extra| extra == name));
        let extra = RawValue::from_string(object(&extra)?)?;
        let value = A::take(Some(&extra), context)?;
        (self.consumer)(ExtraArguments {
            value,
            definition: &self.definition,
            arguments,
            context,
        });
        match self.given {
            Own::Left => object(&own).map(Cow::Owned),
            Own::AndExtra => Ok(Cow::Borrowed(arguments)),
        }
    }
}

/// The text of an object of these members.
fn object<Name: AsRef<str>>(members: &[(Name, &RawValue)]) -> Result<String, ToolError> {
    let mut text = String::from("{");
    for (name, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(name.as_ref())?);
        text.push(':');
        text.push_str(value.get());
    }
    text.push('}');
    Ok(text)
}

impl<A, F> ToolCallback for Augmented<A, F>
where
    A: ToolSchema + DeserializeOwned,
    F: Fn(ExtraArguments<'_, A>) + Send + Sync,
{
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        self.tool.metadata()
    }

    fn call<'a>(
        &'a self,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        Box::pin(async move {
            let own = self.take_out(arguments, context)?;
            self.tool.call(&own, context).await
        })
    }
}
