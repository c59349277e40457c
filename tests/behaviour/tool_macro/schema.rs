//! The input schema, byte for byte, as a constant.

use std::collections::BTreeMap;

use agent_core::{ToolContext, ToolDefinition, tool};
use schemars::JsonSchema;
use serde::Deserialize;

const fn text(definition: &'static ToolDefinition) -> &'static str {
    match definition.input_schema().const_text() {
        Some(text) => text,
        None => "no constant",
    }
}

mod pinned {
    use agent_core::tool;

    #[tool(type = GetWeather)]
    pub(super) async fn get_weather(
        /** City name */
        city: String,
        days: Option<u8>,
    ) {
        drop((city, days));
    }
}

// A4, A6, A9, TS-3, TS-4
// pitfall: a list without items, an open object
#[test]
fn the_schema_is_a_constant_text() {
    const TEXT: &str = text(pinned::GetWeather::DEFINITION);

    assert_eq!(
        TEXT,
        r#"{"type":"object","properties":{"city":{"type":"string","description":"City name"},"days":{"type":["integer","null"],"minimum":0,"maximum":255}},"required":["city"],"additionalProperties":false}"#
    );
}

// A1
#[tokio::test]
async fn the_functions_of_these_tests_can_be_called() {
    pinned::get_weather("Oslo".to_owned(), None).await;
}

#[tool]
async fn nothing() {}

// A4, sc-01
#[test]
fn no_parameters_are_an_empty_object() {
    assert_eq!(
        text(nothing::DEFINITION),
        r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#
    );
}

type Maybe = Option<u8>;

#[tool]
#[allow(unused_variables, unused_mut)]
#[expect(clippy::too_many_arguments, reason = "one for each spelling")]
async fn every_spelling(
    _unused: bool,
    mut counted: i64,
    maybe: Maybe,
    r#in: Option<f64>,
    text: &str,
    list: &[u8],
    grid: [[f32; 2]; 2],
    map: &BTreeMap<String, bool>,
    /// First line.
    ///
    /// Third line.
    #[param(rename = "from")]
    sender: String,
    #[param(description = "Wins")]
    /// Not this.
    wins: (),
) {
}

// A4, A6, sc-24, TS-6, TS-8
// pitfall: references become texts, an unused parameter keeps its `_`
#[test]
fn every_spelling_of_a_parameter_has_its_property() {
    assert_eq!(
        text(every_spelling::DEFINITION),
        concat!(
            r#"{"type":"object","properties":{"unused":{"type":"boolean"},"counted":{"type":"integer"},"#,
            r#""maybe":{"type":["integer","null"],"minimum":0,"maximum":255},"in":{"type":["number","null"]},"#,
            r#""text":{"type":"string"},"list":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255}},"#,
            r#""grid":{"type":"array","items":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2},"minItems":2,"maxItems":2},"#,
            r#""map":{"type":"object","additionalProperties":{"type":"boolean"}},"#,
            r#""from":{"type":"string","description":"First line.\n\nThird line."},"wins":{"type":"null","description":"Wins"}},"#,
            r#""required":["unused","counted","text","list","grid","map","from","wins"],"additionalProperties":false}"#,
        )
    );
}

const LIMIT: u16 = 10;

#[tool]
async fn defaults(
    #[param(default = 1)] count: u8,
    #[param(default = -1_000)] offset: i32,
    #[param(default = 0.5)] share: f64,
    #[param(default = true)] sorted: bool,
    #[param(default = "a \"b\"\n")] text: &str,
    #[param(default = LIMIT)] limit: u16,
    #[param(default)] list: Vec<String>,
) -> String {
    format!("{count} {offset} {share} {sorted} {text:?} {limit} {list:?}")
}

// A4
#[test]
fn literal_defaults_are_told_and_none_is_required() {
    assert_eq!(
        text(defaults::DEFINITION),
        concat!(
            r#"{"type":"object","properties":{"count":{"type":"integer","minimum":0,"maximum":255,"default":1},"#,
            r#""offset":{"type":"integer","default":-1000},"share":{"type":"number","default":0.5},"#,
            r#""sorted":{"type":"boolean","default":true},"text":{"type":"string","default":"a \"b\"\n"},"#,
            r#""limit":{"type":"integer","minimum":0,"maximum":65535},"list":{"type":"array","items":{"type":"string"}}},"#,
            r#""required":[],"additionalProperties":false}"#,
        )
    );
}

// A4
#[tokio::test]
async fn defaults_are_taken_when_the_model_gives_nothing() {
    assert_eq!(
        super::told(defaults::callback(), r#"{"count":null,"limit":3}"#).await,
        r#"1 -1000 0.5 true "a \"b\"\n" 3 []"#
    );
}

#[tool]
async fn with_context(context: &ToolContext, city: &str, owned: ToolContext) -> String {
    format!("{city} {} {}", context.attempt(), owned.attempt())
}

// A5, TS-7
#[test]
fn a_context_is_not_in_the_schema() {
    assert_eq!(
        text(with_context::DEFINITION),
        r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#
    );
}

/// What to look for.
#[derive(Deserialize, JsonSchema)]
struct Filter {
    /// Words in it
    words: Vec<String>,
    limit: Option<u8>,
}

#[tool]
async fn find(
    /// What to find
    #[param(schemars)]
    filter: Filter,
    #[param(schemars, default)] more: Option<Filter>,
) -> String {
    let more = more.map_or(0, |more| more.words.len());
    format!("{:?} {:?} {more}", filter.words, filter.limit)
}

#[tool(schemars)]
async fn find_all(filters: Vec<Filter>, context: &str) -> String {
    format!("{} {context}", filters.len())
}

// A9
#[tokio::test]
async fn a_schemars_type_joins_at_first_use() {
    let definition = find::DEFINITION;

    assert_eq!(definition.input_schema().const_text(), None);
    let schema = definition.input_schema().value();
    assert_eq!(schema["required"], serde_json::json!(["filter"]));
    assert_eq!(
        schema["properties"]["filter"]["description"],
        "What to find"
    );
    assert_eq!(
        super::told(find::callback(), r#"{"filter":{"words":["a"]}}"#).await,
        r#"["a"] None 0"#
    );
}

// A9
#[tokio::test]
async fn the_key_of_the_tool_is_for_all_parameters() {
    assert_eq!(find_all::DEFINITION.input_schema().const_text(), None);
    assert_eq!(
        super::told(
            find_all::callback(),
            r#"{"filters":[{"words":[]}],"context":"x"}"#
        )
        .await,
        "1 x"
    );
}

#[tool]
async fn sized(#[allow(unused)] bytes: &[u8; LENGTH], __agent: [bool; LENGTH]) -> usize {
    __agent.len()
}

const LENGTH: usize = 2;

#[tokio::test]
async fn a_constant_of_the_user_is_the_users() {
    assert_eq!(
        super::told(sized::callback(), r#"{"bytes":[1,2],"agent":[true,false]}"#).await,
        "2"
    );
}
