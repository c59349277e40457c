//! Tools: definitions, callbacks, contexts, results and sets.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::graph::{CancellationToken, State, StateError};
use agent_core::message::{ContentPart, Image};
use agent_core::schema::{Dialect, Schema};
use agent_core::tool::{
    CancelGuard, FunctionTool, InputSchema, IntoTools, Json, ParamKind, ToolErrorKind, ToolOutcome,
    ToolParam, ToolProvider, ToolSetError,
};
use agent_core::{
    BoxError, Host, IntoToolOutput, ToolCallback, ToolContext, ToolDefinition, ToolError,
    ToolOutput, ToolSchema, ToolSet, tool, tools,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{ByHand, Db, SCORES};

#[tool(register = false)]
async fn get_weather(
    /** City name */
    city: String,
    days: Option<u8>,
) -> String {
    format!("{city} {days:?}")
}

mod m {
    #[agent_core::tool(type = SearchTool, register = false)]
    pub(super) fn search(words: &[String]) -> usize {
        words.len()
    }
}

const DEFINITION: &ToolDefinition = get_weather::DEFINITION;
const NAME: &str = DEFINITION.name();
const DESCRIPTION: &str = DEFINITION.description();
const INPUT: &InputSchema = DEFINITION.input_schema();
const OUTPUT: Option<&InputSchema> = DEFINITION.output_schema();
const TEXT: Option<&'static str> = INPUT.const_text();

#[test]
fn a_tool_is_a_constant_and_a_callback() {
    let callback: fn() -> Arc<dyn ToolCallback> = get_weather::callback;
    let listed: Vec<Arc<dyn ToolCallback>> = tools![get_weather, m::SearchTool];

    assert_eq!((NAME, DESCRIPTION), ("get_weather", "get weather"));
    assert!(OUTPUT.is_none());
    let text = r#"{"type":"object","properties":{"city":{"type":"string","description":"City name"},"days":{"type":["integer","null"],"minimum":0,"maximum":255}},"required":["city"],"additionalProperties":false}"#;
    assert_eq!(TEXT, Some(text));
    assert_eq!(INPUT.text(), text);
    let value: Value = INPUT.value();
    assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(callback().definition().name(), NAME);
    assert_eq!(listed[1].definition().name(), "search");
    assert_eq!(m::search(&["a".to_owned()]), 1);
}

/// How to sort.
#[derive(Debug, Deserialize, ToolSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Order {
    /// The key.
    #[param(description = "Sorts by this.")]
    by: String,
}

struct Cities;

impl ToolSchema for Cities {
    const SCHEMA: Schema = Schema::array(&<String as ToolSchema>::SCHEMA);
    const REQUIRED: bool = true;
}

struct Tenant(String);

impl ToolParam for Tenant {
    const KIND: ParamKind = ParamKind::Context;

    fn take(argument: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
        assert!(argument.is_none());
        Ok(Self(context.run_id().to_owned()))
    }
}

#[tool(register = false)]
async fn of_tenant(tenant: Tenant, _token: CancellationToken, _db: Host<Db>) -> String {
    tenant.0
}

#[test]
fn a_type_is_a_parameter_by_its_traits() {
    assert!(<Order as ToolSchema>::SCHEMA.to_string().contains("\"by\""));
    const { assert!(!<Option<u8> as ToolSchema>::REQUIRED) };
    assert!(Cities::SCHEMA.to_string().contains("array"));
    assert_eq!(tools![of_tenant].len(), 1);
}

struct Service;

#[tool]
impl Service {
    /// A method.
    #[tool]
    async fn look(&self) -> &'static str {
        "seen"
    }
}

struct Provider;

impl ToolProvider for Provider {
    fn callbacks(self: Arc<Self>) -> Vec<Arc<dyn ToolCallback>> {
        vec![Arc::new(ByHand::new("provided"))]
    }
}

#[test]
fn anything_that_is_tools_can_be_given() {
    let one: Arc<dyn ToolCallback> = Arc::new(ByHand::new("c"));
    let provider: Arc<dyn ToolProvider> = Arc::new(Provider);
    let set: Result<ToolSet, ToolSetError> = ToolSet::new(ByHand::new("set"));
    let set = set.unwrap();
    let _: fn() -> Result<ToolSet, ToolSetError> = ToolSet::registered;
    let first: Option<&Arc<dyn ToolCallback>> = set.iter().next();
    assert_eq!(first.is_some(), set.get("set").is_some());

    let given = [
        ByHand::new("a").into_tools(),
        one.into_tools(),
        Arc::new(Provider).into_tools(),
        provider.into_tools(),
        (&set).into_tools(),
        set.into_tools(),
        vec![ByHand::new("v")].into_tools(),
        [ByHand::new("n")].into_tools(),
        Some(ByHand::new("o")).into_tools(),
        Service.into_tools(),
    ];

    assert!(given.iter().all(|tools| tools.len() == 1));
}

#[test]
fn a_set_gives_other_sets_and_a_report() {
    let set = ToolSet::new([ByHand::new("a"), ByHand::new("b")]).unwrap();

    let set = set.prefix("x_").unwrap().rename("x_b", "c").unwrap();
    let set: ToolSet = set.filter(|tool: &Arc<dyn ToolCallback>| tool.definition().name() == "c");
    let _ = set.report(Dialect::OpenAi);

    assert_eq!(set.names().collect::<Vec<_>>(), ["c"]);
}

#[test]
fn closures_are_tools() {
    let nothing = FunctionTool::new("a", "", async || "x");
    let input = FunctionTool::new("b", "", async |order: Order| order.by);
    let context = FunctionTool::new("c", "", async |_: Order, context: ToolContext| {
        Ok::<_, BoxError>(context.run_id().to_owned())
    });
    let blocking = FunctionTool::blocking("d", "", || 1);
    let schema = json!({"type": "object", "properties": {}});
    let of_schema = FunctionTool::from_schema("e", "", schema, async |_: Value| 1);

    let tools = [nothing, input, context, blocking, of_schema.unwrap()];
    assert_eq!(ToolSet::new(tools).unwrap().len(), 5);
}

#[test]
fn what_a_tool_gives() {
    fn shown<T: IntoToolOutput>() -> fn(T) -> Result<ToolOutcome, ToolError> {
        T::into_tool_output
    }

    shown::<&str>();
    shown::<String>();
    shown::<Cow<'static, str>>();
    shown::<Json<Vec<u8>>>();
    shown::<Image>();
    shown::<Vec<ContentPart>>();
    shown::<ToolOutput>();
    shown::<ToolOutcome>();
    shown::<std::process::Output>();
    shown::<Option<String>>();
    shown::<Result<String, std::io::Error>>();
    shown::<Result<(), ToolError>>();
    let ToolOutcome::Done(done) = shown::<()>()(()).unwrap() else {
        panic!("`()` pauses");
    };
    assert_eq!(done.text(), "Done");
}

#[test]
fn a_tool_error_has_a_kind_and_a_text_for_the_model() {
    let kinds = [
        ToolErrorKind::Unknown,
        ToolErrorKind::InvalidArguments,
        ToolErrorKind::Correctable,
        ToolErrorKind::Failed,
        ToolErrorKind::Panicked,
        ToolErrorKind::TimedOut,
        ToolErrorKind::Cancelled,
        ToolErrorKind::Fatal,
    ];
    let error = ToolError::failed(std::io::Error::other("no disk"));

    assert!(kinds.contains(&error.kind()));
    assert_eq!(error.model_text(), "Error: no disk");
    assert_eq!(
        ToolError::correctable("x").kind(),
        ToolErrorKind::Correctable
    );
    assert_eq!(ToolError::fatal("x").kind(), ToolErrorKind::Fatal);
    assert_eq!(
        ToolError::timed_out(Duration::from_millis(100)).model_text(),
        "Error: timed out after 100 ms"
    );
}

#[tokio::test]
async fn a_context_tells_of_the_run() {
    let context = ToolContext::default().clone();

    let _: (&str, Option<&str>) = (context.run_id(), context.thread_id());
    let _: (&str, &str) = (context.call_id(), context.tool_name());
    let _: Option<Instant> = context.deadline();
    let _: String = context.idempotency_key();
    let token: &CancellationToken = context.cancellation();
    let checked: Result<(), ToolError> = context.check_cancelled();
    let _: CancelGuard = context.on_cancel(|| {});
    let _: (Option<&Db>, Option<&Value>) = (context.host::<Db>(), context.metadata("k"));
    let state: &State = context.state();
    let updated: Result<(), StateError> = context.update(SCORES, vec![1]);
    context.emit("half").await;
    let answer: Result<Option<u8>, ToolError> = context.answer::<u8>();

    assert!(checked.is_ok() && updated.is_ok() && !token.is_cancelled());
    assert!(matches!(answer, Ok(None)));
    assert_eq!(context.attempt(), 1);
    assert_eq!(state.get(&SCORES).unwrap(), None);
    let Host(_) = Host(Arc::new(Db));
}
