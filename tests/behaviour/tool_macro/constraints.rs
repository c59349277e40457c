//! What `#[param]` says of a value beyond its type: told to the model, and checked.

use agent_core::tool::ToolErrorKind;
use agent_core::{ToolSchema, tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{called, told};

#[tool]
#[allow(clippy::too_many_arguments)]
async fn forecast(
    /// City name
    #[param(min_length = 2, max_length = 5, pattern = "^[A-Z]", example = "Oslo")]
    city: String,
    #[param(minimum = 1, maximum = 7)] days: Option<u8>,
    #[param(exclusive_minimum = 0, maximum = 2.5, default = 1.0)] scale: f64,
    #[param(min_items = 1, max_items = 2, example = ["a", "b"])] tags: Vec<String>,
    #[param(minimum = -3, exclusive_maximum = 10)] offset: i32,
    #[param(required)] unit: Option<String>,
) -> String {
    format!("{city} {days:?} {scale} {tags:?} {offset} {unit:?}")
}

#[test]
fn constraints_stand_in_the_constant_text_before_the_description() {
    assert_eq!(
        forecast::DEFINITION.input_schema().const_text(),
        Some(concat!(
            r#"{"type":"object","properties":{"#,
            r#""city":{"type":"string","minLength":2,"maxLength":5,"pattern":"^[A-Z]","#,
            r#""description":"City name","examples":["Oslo"]},"#,
            r#""days":{"type":["integer","null"],"minimum":1,"maximum":7},"#,
            r#""scale":{"type":"number","maximum":2.5,"exclusiveMinimum":0,"default":1.0},"#,
            r#""tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"#,
            r#""examples":[["a","b"]]},"#,
            r#""offset":{"type":"integer","minimum":-3,"exclusiveMaximum":10},"#,
            r#""unit":{"type":["string","null"]}},"#,
            r#""required":["city","tags","offset","unit"],"additionalProperties":false}"#,
        ))
    );
}

fn arguments(changed: &str, value: Value) -> String {
    let mut arguments = json!({"city": "Oslo", "tags": ["a"], "offset": 0, "unit": null});
    arguments[changed] = value;
    arguments.to_string()
}

#[tokio::test]
async fn a_value_within_its_constraints_is_taken() {
    for (name, value, shown) in [
        ("city", json!("Aå"), r#"Aå None 1 ["a"] 0 None"#),
        ("days", json!(7), r#"Oslo Some(7) 1 ["a"] 0 None"#),
        ("days", json!("1"), r#"Oslo Some(1) 1 ["a"] 0 None"#),
        ("days", Value::Null, r#"Oslo None 1 ["a"] 0 None"#),
        ("scale", json!(2.5), r#"Oslo None 2.5 ["a"] 0 None"#),
        ("scale", Value::Null, r#"Oslo None 1 ["a"] 0 None"#),
        (
            "tags",
            json!(["a", "b"]),
            r#"Oslo None 1 ["a", "b"] 0 None"#,
        ),
        ("offset", json!(-3), r#"Oslo None 1 ["a"] -3 None"#),
        ("unit", json!("C"), r#"Oslo None 1 ["a"] 0 Some("C")"#),
    ] {
        assert_eq!(
            told(forecast::callback(), &arguments(name, value)).await,
            shown
        );
    }
}

#[tokio::test]
async fn a_value_beyond_a_constraint_is_refused_by_parameter_bound_and_value() {
    let city = "a string of 2 to 5 characters that matches `^[A-Z]`";
    for (name, value, expected, got) in [
        ("city", json!("O"), city, r#""O""#),
        ("city", json!("Tokyos"), city, r#""Tokyos""#),
        ("city", json!("oslo"), city, r#""oslo""#),
        ("city", json!(7), city, "7"),
        ("days", json!(0), "an integer from 1 to 7", "0"),
        ("days", json!("8"), "an integer from 1 to 7", "8"),
        ("days", json!(256), "an integer from 1 to 7", "256"),
        (
            "scale",
            json!(0),
            "a number of at most 2.5 and above 0",
            "0",
        ),
        (
            "scale",
            json!(2.6),
            "a number of at most 2.5 and above 0",
            "2.6",
        ),
        ("tags", json!([]), "a list of 1 to 2 items", "[]"),
        (
            "offset",
            json!(-4),
            "an integer of at least -3 and below 10",
            "-4",
        ),
        (
            "offset",
            json!(10),
            "an integer of at least -3 and below 10",
            "10",
        ),
    ] {
        let error = called(forecast::callback(), &arguments(name, value))
            .await
            .unwrap_err();

        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        let text =
            format!("argument `{name}` does not fit its type: expected {expected}, got {got}");
        assert!(error.to_string().starts_with(&text), "{error}\n{text}");
    }
}

#[tokio::test]
async fn a_required_option_may_be_null_but_not_absent() {
    let mut absent: Value = serde_json::from_str(&arguments("unit", Value::Null)).unwrap();
    absent.as_object_mut().unwrap().remove("unit");

    let error = called(forecast::callback(), &absent.to_string())
        .await
        .unwrap_err();
    assert!(error.to_string().starts_with("argument `unit` is missing"));
}

#[derive(Debug, Clone, Deserialize, ToolSchema)]
struct Stop {
    #[param(minimum = 1, example = 2)]
    nights: u8,
    #[param(required)]
    hotel: Option<String>,
}

#[tool]
fn trip(stops: &[Stop]) -> usize {
    stops
        .iter()
        .map(|stop| usize::from(stop.nights) + stop.hotel.as_ref().map_or(0, String::len))
        .sum()
}

#[tokio::test]
async fn constraints_of_nested_properties_are_checked() {
    let good = told(
        trip::callback(),
        r#"{"stops":[{"nights":2,"hotel":null},{"nights":"1","hotel":"h"}]}"#,
    )
    .await;
    let bad = told(
        trip::callback(),
        r#"{"stops":[{"nights":2},{"nights":0,"hotel":null}]}"#,
    )
    .await;

    assert_eq!(good, "4");
    assert!(
        bad.contains("argument `stops[0].hotel` is missing"),
        "{bad}"
    );
    let nights = "argument `stops[1].nights` does not fit its type: \
                  expected an integer from 1 to 255, got 0";
    assert!(bad.contains(nights), "{bad}");
    assert_eq!(
        Stop::SCHEMA.to_string(),
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""nights":{"type":"integer","minimum":1,"maximum":255,"examples":[2]},"#,
            r#""hotel":{"type":["string","null"]}},"#,
            r#""required":["nights","hotel"],"additionalProperties":false}"#,
        )
    );
}

#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
struct Code(String);

#[tool(schemars)]
fn unlock(
    #[param(pattern = "^[0-9]+$", max_length = 4)] code: &Code,
    #[param(required)] door: Option<u8>,
) -> String {
    format!("{} {door:?}", code.0)
}

#[tokio::test]
async fn constraints_join_what_schemars_says() {
    let schema = unlock::DEFINITION.input_schema().value();
    let bad = told(unlock::callback(), r#"{"code":"x","door":1}"#).await;
    let good = told(unlock::callback(), r#"{"code":"12","door":1}"#).await;

    assert_eq!(schema["properties"]["code"]["pattern"], "^[0-9]+$");
    assert_eq!(schema["properties"]["code"]["maxLength"], 4);
    assert_eq!(schema["required"], json!(["code", "door"]));
    assert!(bad.contains("`code`") && bad.contains("`^[0-9]+$`") && bad.contains(r#""x""#));
    assert_eq!(good, "12 Some(1)");
}
