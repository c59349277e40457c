//! Tools found by name: those an agent is told to offer, and those it does not offer.

use std::sync::{Arc, Mutex};

use agent_core::agent::{BuildFault, Limits, OnLimit};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{Turn, calls, says};
use agent_core::tool::{FunctionTool, ToolResolver, ToolSetError};
use agent_core::{Outcome, ReactAgent, RunOutput, ToolCallback, ToolSet, tool};
use agent_tests::runs::{offered, results};
use agent_tests::tools::answers;
use serde_json::json;

/// Found by `.tool_names` in the registry of this binary.
#[tool]
async fn linked_for_names() -> &'static str {
    "linked"
}

fn set(name: &'static str, text: &'static str) -> ToolSet {
    ToolSet::new(answers(name, text)).expect("one tool is a set")
}

/// A model that calls this tool and then says `done`.
fn model(name: &str) -> ScriptedModel {
    ScriptedModel::new([calls(name, json!({})), says("done")])
}

/// The text of the only result of a run.
fn only_result(output: &RunOutput) -> (String, bool) {
    let results = results(output.messages());
    assert_eq!(results.len(), 1);
    (results[0].text(), results[0].is_error())
}

/// Remembers what it was asked.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl ToolResolver for Asked {
    fn resolve(&self, name: &str) -> Option<Arc<dyn ToolCallback>> {
        self.0.lock().expect("nobody panics").push(name.to_owned());
        let known = name.strip_prefix("made_")?;
        let text = known.to_owned();
        Some(Arc::new(FunctionTool::new(
            name.to_owned(),
            "Made.",
            move || {
                let text = text.clone();
                async move { text }
            },
        )))
    }
}

// A15, TM-3, tm.5
#[tokio::test]
async fn without_a_resolver_a_tool_that_is_not_offered_is_not_reached() {
    for called in ["linked_for_names", "hidden"] {
        let agent = ReactAgent::builder("assistant", model(called)).tools(answers("shown", "s"));
        let output = agent.build().unwrap().run("Go").await.unwrap();

        assert_eq!(
            only_result(&output),
            (
                format!("Error: tool not available: `{called}`; the tools are `shown`"),
                true
            )
        );
    }
}

// A15, TN-11, TM-3, tm.5, tm.5.2, tn.5, ra.5
#[tokio::test]
async fn a_resolver_finds_a_tool_that_is_not_offered() {
    let model = model("hidden");

    let agent = ReactAgent::builder("assistant", model.clone()).resolver(set("hidden", "found"));
    let output = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(only_result(&output), ("found".to_owned(), false));
    assert!(offered(&model.requests()[0]).is_empty());
}

// TN-11
#[tokio::test]
async fn an_offered_tool_comes_before_the_resolver() {
    let asked = Asked::default();

    let agent = ReactAgent::builder("assistant", model("shown"))
        .tools(answers("shown", "offered"))
        .resolver(asked.clone())
        .resolver(set("shown", "resolved"));
    let output = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(only_result(&output).0, "offered");
    assert!(asked.0.lock().unwrap().is_empty());
}

// OR-3
#[tokio::test]
async fn the_first_resolver_that_knows_the_name_is_right() {
    let lists: Vec<Arc<dyn ToolResolver>> =
        vec![Arc::new(set("a", "list")), Arc::new(set("b", "list"))];
    for (called, expected) in [("a", "first"), ("b", "list"), ("made_c", "c")] {
        let agent = ReactAgent::builder("assistant", model(called))
            .resolver(set("a", "first"))
            .resolver(lists.clone())
            .resolver(Asked::default());
        let output = agent.build().unwrap().run("Go").await.unwrap();

        assert_eq!(only_result(&output), (expected.to_owned(), false));
    }
}

#[tokio::test]
async fn a_name_is_asked_until_it_is_found_once() {
    let asked = Asked::default();
    let model = ScriptedModel::new([
        calls("made_a", json!({})).and_calls("made_a", json!({})),
        calls("made_a", json!({})),
        says("done"),
    ]);

    let agent = ReactAgent::builder("assistant", model).resolver(asked.clone());
    let output = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(results(output.messages()).len(), 3);
    assert_eq!(*asked.0.lock().unwrap(), ["made_a"]);
}

#[tokio::test]
async fn a_name_no_resolver_knows_is_an_error_that_names_what_is_offered() {
    let agent = ReactAgent::builder("assistant", model("other"))
        .tools(answers("shown", "s"))
        .resolver(set("hidden", "h"));
    let output = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        only_result(&output),
        (
            "Error: tool not available: `other`; the tools are `shown`".to_owned(),
            true
        )
    );
}

#[tokio::test]
async fn a_resolver_that_panics_knows_nothing() {
    struct Panics;

    impl ToolResolver for Panics {
        #[expect(clippy::panic, reason = "the resolver panics")]
        fn resolve(&self, _: &str) -> Option<Arc<dyn ToolCallback>> {
            panic!("a resolver's own fault")
        }
    }

    let agent = ReactAgent::builder("assistant", model("hidden"))
        .resolver(Panics)
        .resolver(set("hidden", "found"));
    let output = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(only_result(&output), ("found".to_owned(), false));
}

#[tokio::test]
async fn a_resolved_tool_is_run_like_any_other() {
    let tools = ToolSet::new(FunctionTool::new("hidden", "H.", async || "h").return_direct(true));
    let limits = Limits::default().calls_of("hidden", 1);
    let turn = Turn::default().and_calls("hidden", json!({}));
    let model = ScriptedModel::new([turn.and_calls("hidden", json!({})), says("done")]);

    let direct = ReactAgent::builder("assistant", self::model("hidden"))
        .resolver(tools.clone().unwrap())
        .build()
        .unwrap();
    let limited = ReactAgent::builder("assistant", model)
        .resolver(tools.unwrap())
        .limits(limits.on_limit(OnLimit::Stop))
        .build()
        .unwrap();

    assert_eq!(direct.run("Go").await.unwrap().text(), "h");
    let output = limited.run("Go").await.unwrap();
    assert!(matches!(output.outcome(), Outcome::LimitReached(_)));
    assert!(
        results(output.messages())[1]
            .text()
            .contains("limit of calls of `hidden`")
    );
}

// B12
#[tokio::test]
async fn tools_can_be_offered_by_name() {
    let model = model("linked_for_names");

    let agent = ReactAgent::builder("assistant", model.clone())
        .tool_names(["hidden", "linked_for_names"])
        .resolver(set("hidden", "h"))
        .tools(answers("given", "g"));
    let output = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        offered(&model.requests()[0]),
        ["given", "hidden", "linked_for_names"]
    );
    assert_eq!(only_result(&output), ("linked".to_owned(), false));
}

// B12, RA-2
#[test]
fn an_unknown_name_is_a_fault() {
    let error = ReactAgent::builder("assistant", ScriptedModel::new([]))
        .tool_names(["nobody", "knows"])
        .resolver(set("hidden", "h"))
        .build()
        .unwrap_err();

    let unknown = error.faults().iter().map(|fault| match fault {
        BuildFault::NoSuchTool { setting, tool, .. } => (*setting, tool.as_str()),
        other => panic!("{other}"),
    });
    assert_eq!(
        unknown.collect::<Vec<_>>(),
        [("tool_names", "nobody"), ("tool_names", "knows")]
    );
}

#[test]
fn a_name_that_is_given_twice_is_a_fault() {
    let error = ReactAgent::builder("assistant", ScriptedModel::new([]))
        .tools(answers("hidden", "given"))
        .tool_names(["hidden"])
        .resolver(set("hidden", "h"))
        .build()
        .unwrap_err();

    assert!(matches!(
        error.faults(),
        [BuildFault::Tools(ToolSetError::Duplicate { name, .. })] if name == "hidden"
    ));
}
