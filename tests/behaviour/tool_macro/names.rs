//! Names, descriptions, metadata, and the items beside the function.

use std::time::Duration;

use agent_core::tool::Effect;
use agent_core::{ToolDefinition, tool, tools};

use super::told;

/// Current weather of a city.
///
///   - indented
///
/// The end.
#[tool]
async fn get_weather(city: String) -> String {
    format!("{city}: sunny")
}

// A1
#[tokio::test]
async fn the_function_stays_callable() {
    assert_eq!(get_weather("Oslo".to_owned()).await, "Oslo: sunny");
    assert_eq!(
        told(get_weather::callback(), r#"{"city":"Oslo"}"#).await,
        "Oslo: sunny"
    );
}

// A2, TS-1
#[test]
fn name_and_description_come_from_the_function() {
    const DEFINITION: &ToolDefinition = get_weather::DEFINITION;

    assert_eq!(DEFINITION.name(), "get_weather");
    assert_eq!(
        DEFINITION.description(),
        "Current weather of a city.\n\n  - indented\n\nThe end."
    );
}

/// Not this.
#[tool(name = "weather-2", description = "  Kept as it is. ")]
async fn renamed() {}

// A2
// pitfall: the name told is not the name called by
#[test]
fn the_attribute_wins() {
    assert_eq!(renamed::DEFINITION.name(), "weather-2");
    assert_eq!(renamed::DEFINITION.description(), "  Kept as it is. ");
}

#[tool]
async fn read_last_line() {}

#[tool]
#[allow(non_snake_case)]
async fn readFirstLine() {}

// A2, TS-2
#[test]
fn without_a_comment_the_name_is_split_into_words() {
    assert_eq!(read_last_line::DEFINITION.description(), "read last line");
    assert_eq!(readFirstLine::DEFINITION.description(), "read first line");
}

/** Finds.

It may take a while. */
#[tool]
#[doc = concat!("See ", "below.")]
async fn documented_by_a_macro() {}

/**
 * Not markdown's stars.
 */
#[tool]
async fn block_comment() {}

// A2
#[test]
fn a_comment_may_be_a_block_or_a_macro() {
    assert_eq!(
        documented_by_a_macro::DEFINITION.description(),
        "Finds.\n\nIt may take a while.\nSee below."
    );
    assert_eq!(
        block_comment::DEFINITION.description(),
        "Not markdown's stars."
    );
}

#[tool]
async fn r#match(r#type: String) -> String {
    r#type
}

// A2, sc-24
// pitfall: a raw identifier panics the macro
#[tokio::test]
async fn a_raw_identifier_is_named_without_its_mark() {
    assert_eq!(r#match::DEFINITION.name(), "match");
    assert_eq!(r#match::DEFINITION.description(), "match");
    assert_eq!(told(r#match::callback(), r#"{"type":"x"}"#).await, "x");
}

mod search {
    use agent_core::tool;

    #[tool(type = SearchTool)]
    pub(super) async fn search() -> &'static str {
        "found"
    }
}

// The name is that of the module too, which a type `search` would clash with.
use search::search;

// A1
#[tokio::test]
async fn the_type_can_have_another_name() {
    assert_eq!(search::SearchTool::DEFINITION.name(), "search");
    assert_eq!(
        search().await,
        told(search::SearchTool::callback(), "").await
    );
}

#[tool(return_direct, timeout = "90s", effect = "idempotent")]
fn with_every_wish() {}

#[tool(return_direct = false, timeout = "5ms")]
async fn with_few_wishes() {}

#[tool(timeout = "2m", effect = "pure")]
async fn in_minutes() {}

#[tool(timeout = "3h", effect = "once")]
async fn in_hours() {}

// A11
#[test]
fn wishes_are_metadata() {
    let tool = with_every_wish::callback();
    let wishes = tool.metadata();

    assert!(wishes.is_return_direct());
    assert_eq!(wishes.time_limit(), Some(Duration::from_secs(90)));
    assert_eq!(wishes.declared_effect(), Effect::Idempotent);
    assert!(wishes.is_blocking());

    let tool = with_few_wishes::callback();
    let wishes = tool.metadata();

    assert!(!wishes.is_return_direct());
    assert_eq!(wishes.time_limit(), Some(Duration::from_millis(5)));
    assert_eq!(wishes.declared_effect(), Effect::Once);
    assert!(!wishes.is_blocking());

    for (tool, minutes, effect) in [
        (in_minutes::callback(), 2, Effect::Pure),
        (in_hours::callback(), 3 * 60, Effect::Once),
    ] {
        let limit = Duration::from_secs(minutes * 60);
        assert_eq!(tool.metadata().time_limit(), Some(limit));
        assert_eq!(tool.metadata().declared_effect(), effect);
    }
}

// A17
#[test]
fn tools_takes_paths_and_keeps_their_order() {
    let tools = tools![search::SearchTool, get_weather, renamed,];

    let names: Vec<&str> = tools.iter().map(|tool| tool.definition().name()).collect();
    assert_eq!(names, ["search", "get_weather", "weather-2"]);
    assert!(tools![].is_empty());
}

#[tool]
#[cfg(any())]
async fn never_there(missing: NoSuchType) -> AlsoMissing {}

#[tool]
#[cfg_attr(all(), cfg(any()), no_such_attribute)]
async fn not_there_either(missing: NoSuchType) {}

#[tool]
async fn without_a_parameter(kept: u8, #[cfg(any())] missing: NoSuchType) -> u8 {
    kept
}

// pitfall: a `cfg` of a tool is not that of what is made of it
#[tokio::test]
async fn what_a_cfg_takes_away_is_away_everywhere() {
    assert_eq!(
        told(without_a_parameter::callback(), r#"{"kept":7}"#).await,
        "7"
    );
}

#[test]
fn a_tool_may_stand_in_a_function() {
    /// Local.
    #[tool(register = false)]
    async fn inner() {}

    assert_eq!(tools![inner][0].definition().description(), "Local.");
}

macro_rules! make_tool {
    ($name:ident, $ty:ty, $doc:expr, $default:expr) => {
        #[doc = $doc]
        #[tool]
        async fn $name(#[param(default = $default)] value: $ty) -> String {
            value.to_string()
        }
    };
}

make_tool!(made_by_a_macro, &str, " Made.", "nothing");

#[tokio::test]
async fn a_macro_may_write_the_tool() {
    assert_eq!(made_by_a_macro::DEFINITION.description(), "Made.");
    assert_eq!(told(made_by_a_macro::callback(), "{}").await, "nothing");
}

mod north {
    /// Weather in the north.
    #[agent_core::tool]
    pub(super) async fn weather() -> &'static str {
        "snow"
    }

    pub(super) use weather as forecast;

    pub(super) mod inside {
        use super::weather;

        pub(in super::super) const DEFINITION: &agent_core::ToolDefinition = weather::DEFINITION;
    }
}

mod south {
    use super::*;

    /// Weather in the south.
    #[tool]
    pub(super) async fn weather() -> &'static str {
        "sun"
    }
}

use north::weather as northern;

// A2
#[tokio::test]
async fn a_tool_goes_by_each_name_it_is_imported_by() {
    let tools = tools![north::weather, north::forecast, northern];

    for tool in tools {
        assert_eq!(told(tool, "{}").await, "snow");
    }
    assert_eq!(northern().await, "snow");
    assert_eq!(
        north::inside::DEFINITION.description(),
        "Weather in the north."
    );
}

// A2
#[tokio::test]
async fn two_modules_may_have_a_tool_of_one_name() {
    assert_eq!(told(north::weather::callback(), "{}").await, "snow");
    assert_eq!(told(south::weather::callback(), "{}").await, "sun");
    assert_eq!(
        format!("{:?} {:?}", north::weather {}, south::weather {}),
        "weather weather"
    );
}
