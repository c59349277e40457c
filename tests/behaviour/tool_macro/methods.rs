//! An object whose methods are tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::{Effect, IntoTools, ToolErrorKind, ToolProvider};
use agent_core::{Host, ReactAgent, ToolCallback, ToolContext, ToolSet, tool};
use serde_json::json;

use super::{called, told};

/// Counts what was asked; it cannot be cloned.
#[derive(Debug, Default)]
struct Station {
    asked: AtomicUsize,
    place: String,
}

#[tool]
impl Station {
    const FACTOR: u8 = 2;

    /// A station at this place.
    fn at(place: &str) -> Self {
        Self {
            place: place.to_owned(),
            ..Self::default()
        }
    }

    /// Weather of a day.
    #[tool]
    async fn get_weather(
        &self,
        /// Days ahead
        #[param(default = Self::FACTOR)]
        days: u8,
        context: &ToolContext,
    ) -> String {
        let asked = self.count();
        format!("{} {days} {asked} {}", self.place, context.attempt())
    }

    /// Where the station is.
    #[tool(name = "where-is", effect = "pure")]
    pub(crate) fn place(&self) -> &str {
        self.count();
        &self.place
    }

    #[tool]
    async fn r#match(&self, r#type: &str, unit: Option<String>) -> Result<f64, std::fmt::Error> {
        self.count();
        match (r#type, unit) {
            ("wind", None) => Ok(0.5),
            _ => Err(std::fmt::Error),
        }
    }

    fn count(&self) -> usize {
        self.asked.fetch_add(1, Ordering::SeqCst) + 1
    }

    #[cfg(any())]
    #[tool]
    async fn never_there(&self, missing: NoSuchType) {}

    #[cfg(not(any()))]
    #[tool]
    #[allow(clippy::unused_self, clippy::needless_arbitrary_self_type)]
    fn always_there(self: &Self, #[cfg(any())] missing: NoSuchType, kept: bool) -> bool {
        kept
    }
}

fn tools(station: impl IntoTools) -> Vec<Arc<dyn ToolCallback>> {
    station.into_tools()
}

// A13
// pitfall: a `cfg` on a method breaks the block
#[test]
fn each_marked_method_is_a_tool_in_order() {
    let tools = tools(Station::default());

    let names: Vec<&str> = tools.iter().map(|tool| tool.definition().name()).collect();
    assert_eq!(names, ["get_weather", "where-is", "match", "always_there"]);
    assert_eq!(tools[0].definition().description(), "Weather of a day.");
    assert_eq!(tools[3].definition().description(), "always there");
    assert_eq!(
        tools[0].definition().input_schema().const_text(),
        Some(concat!(
            r#"{"type":"object","properties":{"days":{"type":"integer","minimum":0,"maximum":255,"#,
            r#""description":"Days ahead"}},"required":[],"additionalProperties":false}"#,
        ))
    );
}

// A13
#[tokio::test]
async fn all_tools_share_the_object() {
    let station = Arc::new(Station::at("Oslo"));

    let tools = tools(Arc::clone(&station));

    assert_eq!(told(Arc::clone(&tools[0]), "{}").await, "Oslo 2 1 1");
    assert_eq!(told(Arc::clone(&tools[1]), "{}").await, "Oslo");
    assert_eq!(
        told(Arc::clone(&tools[2]), r#"{"type":"wind"}"#).await,
        "0.5"
    );
    assert_eq!(
        told(Arc::clone(&tools[0]), r#"{"days":7}"#).await,
        "Oslo 7 4 1"
    );
    assert_eq!(station.asked.load(Ordering::SeqCst), 4);
}

// A13
#[tokio::test]
async fn the_methods_stay_callable() {
    let station = Station::at("Oslo");

    assert_eq!(station.place(), "Oslo");
    assert_eq!(station.r#match("wind", None).await, Ok(0.5));
    assert!(station.always_there(true));
    assert_eq!(
        station.get_weather(1, &ToolContext::default()).await,
        "Oslo 1 3 1"
    );
}

// A13
#[tokio::test]
async fn a_methods_tool_has_the_wishes_and_the_errors_of_a_functions() {
    let tools = tools(Station::default());

    let place = tools[1].metadata();
    assert_eq!(place.declared_effect(), Effect::Pure);
    assert!(place.is_blocking());
    assert!(!tools[0].metadata().is_blocking());
    let file = place.location().map(|(file, _)| file);
    assert_eq!(file, Some(file!()));
    let error = called(Arc::clone(&tools[2]), "{}").await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
}

// A13, A17
#[tokio::test]
async fn an_agent_takes_the_object_or_its_arc() {
    let model = || ScriptedModel::new([calls("get_weather", json!({"days": 3})), says("Cold.")]);
    let station = Station::at("Oslo");
    let owning = ReactAgent::builder("assistant", model())
        .tools(station)
        .build();
    let station = Arc::new(Station::at("Bergen"));
    let sharing = ReactAgent::builder("assistant", model())
        .tools(station)
        .build();

    let first = owning.unwrap().run("Weather?").await.unwrap();
    let second = sharing.unwrap().run("Weather?").await.unwrap();

    assert_eq!(first.messages()[2].tool_results()[0].text(), "Oslo 3 1 1");
    assert_eq!(
        second.messages()[2].tool_results()[0].text(),
        "Bergen 3 1 1"
    );
}

// A17
#[test]
fn objects_mix_with_options_and_vectors() {
    let stations: Vec<Arc<dyn ToolProvider>> = vec![Arc::new(Station::default())];

    assert_eq!(tools(stations).len(), 4);
    assert_eq!(tools(Some(Station::default())).len(), 4);
    assert!(ToolSet::new([Station::default(), Station::default()]).is_err());
}

/// Of one type, though the type is generic.
struct Store<T>(T);

#[tool]
impl Store<u8> {
    #[tool]
    async fn get(&self, host: Host<String>) -> u8 {
        let _ = host;
        self.0
    }
}

impl Store<u16> {
    fn get(&self) -> u16 {
        self.0
    }
}

// A13
#[tokio::test]
async fn the_object_may_be_one_instance_of_a_generic_type() {
    assert_eq!(tools(Store(7u8))[0].definition().required_hosts().len(), 1);
    assert_eq!(Store(8u16).get(), 8);
}

// A13
#[tokio::test]
async fn an_object_may_stand_in_a_function() {
    struct Local;

    #[tool]
    impl Local {
        #[tool]
        #[expect(clippy::unused_self, reason = "there is nothing in it")]
        fn answer(&self) -> u8 {
            42
        }
    }

    assert_eq!(told(tools(Local).swap_remove(0), "").await, "42");
}

#[cfg(any())]
#[tool]
impl NoSuchType {
    #[tool]
    fn answer(&self) -> u8 {}
}
