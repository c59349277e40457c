//! An error about arguments says enough, whatever form the tool has.

use std::sync::Arc;

use agent_core::schema::Schemars;
use agent_core::tool::FunctionTool;
use agent_core::{ToolCallback, ToolContext, ToolSchema, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::repair::repaired;

#[derive(Deserialize, ToolSchema)]
struct Stop {
    city: String,
    #[param(minimum = 1, maximum = 14)]
    nights: u8,
}

#[tool(args)]
fn stop(stop: &Stop) -> String {
    format!("{} {}", stop.city, stop.nights)
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Described {
    city: String,
    nights: u8,
}

#[tool(args, schemars)]
fn described(stop: &Described) -> String {
    format!("{} {}", stop.city, stop.nights)
}

#[tool(schemars)]
fn described_inside(stop: &Described, nights: u8) -> String {
    format!("{} {}", stop.city, stop.nights + nights)
}

#[tokio::test]
async fn a_model_repairs_the_call_of_a_tool_of_any_form() {
    let of_schemars = async |Schemars(stop): Schemars<Described>| stop.city;
    let of_schemars = FunctionTool::new("stop", "A stop.", of_schemars);
    let closure = FunctionTool::new("stop", "A stop.", async |stop: Stop| stop.city);
    let nothing = FunctionTool::new("nothing", "Nothing.", async || ());
    let schema = json!({
        "type": "object",
        "$defs": {"Nights": {"type": "integer", "minimum": 1, "maximum": 14}},
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "nights": {"$ref": "#/$defs/Nights"},
        },
        "required": ["city", "nights"],
        "additionalProperties": false,
    });
    let given = FunctionTool::from_schema("stop", "A stop.", schema, async |all: Value| all);
    let forms: [Arc<dyn ToolCallback>; 7] = [
        stop::callback(),
        described::callback(),
        described_inside::callback(),
        Arc::new(of_schemars),
        Arc::new(closure),
        Arc::new(nothing),
        Arc::new(given.expect("the schema is right")),
    ];
    for tool in forms {
        let context = ToolContext::default();
        let fault = async |arguments: &str| {
            let error = tool.call(arguments, &context).await.err()?;
            Some(error.model_text())
        };
        let mut faults = 0;
        for broken in [
            "[1]",
            "7",
            r#"{"city": "Oslo""#,
            r#"{"city": "Oslo", "city": "Oslo"}"#,
            "{}",
            r#"{"city": "Oslo"}"#,
            r#"{"city": 7, "nights": 2}"#,
            r#"{"city": "Oslo", "nights": 99}"#,
            r#"{"city": "Oslo", "nights": "two"}"#,
            r#"{"city": "Oslo", "nights": 2, "why": 1}"#,
            r#"{"stop": {"city": 7, "nights": 2}, "nights": 300}"#,
        ] {
            let Some(error) = fault(broken).await else {
                continue;
            };
            faults += 1;
            let repaired = repaired(broken, &error);
            assert_eq!(
                fault(&repaired).await,
                None,
                "{broken}\n{error}\n{repaired}"
            );
        }
        assert!(faults >= 4, "{faults}");
    }
}

#[tokio::test]
async fn what_serde_says_of_a_long_value_is_shortened() {
    let arguments = json!({"stop": "long".repeat(1000), "nights": 1}).to_string();

    let error = described_inside::callback()
        .call(&arguments, &ToolContext::default())
        .await
        .unwrap_err()
        .to_string();

    assert!(
        error.len() < 600 && error.contains("; for example: "),
        "{error}"
    );
}
