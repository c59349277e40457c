//! Sets of tools: names, duplicates, and sets made of sets.

use agent_core::agent::{AgentTool, BuildFault};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::{Effect, FunctionTool, ToolSetError};
use agent_core::{Host, ReactAgent, ToolSet, tool, tools};
use agent_tests::runs::{offered, results};
use agent_tests::tools::answers;
use serde_json::json;

/// Finds articles.
#[tool(effect = "pure", return_direct, register = false)]
async fn search(
    words: String,
    #[expect(unused, reason = "asked for only")] db: Host<u8>,
) -> String {
    words
}

#[track_caller]
fn named(name: &'static str) -> FunctionTool {
    FunctionTool::new(name, "A tool.", async || ())
}

fn set(names: &[&'static str]) -> ToolSet {
    let tools: Vec<_> = names.iter().map(|name| named(name)).collect();
    ToolSet::new(tools).expect("the names differ")
}

// TS-12, sc-29
#[test]
fn two_tools_of_one_name_are_told_by_file_and_line() {
    mod other {
        #[agent_core::tool(register = false)]
        pub(super) async fn search() {}
    }
    let (file, remote) = (file!(), line!() + 1);
    let remote_search = named("search");

    let macros = ToolSet::new(tools![search, other::search]).unwrap_err();
    let mixed = ToolSet::new([
        tools![search],
        vec![std::sync::Arc::new(remote_search) as _],
    ]);

    let ToolSetError::Duplicate {
        name,
        first,
        second,
    } = &macros
    else {
        panic!("{macros}");
    };
    let place = |text: &str| {
        let (place, line) = text.split_once(':').expect("a file and a line");
        (place.to_owned(), line.parse::<u32>().expect("a line"))
    };
    assert_eq!(name, "search");
    assert_eq!(place(first).0, file);
    assert!(place(first).1 < place(second).1, "{first} {second}");
    assert_eq!(
        mixed.unwrap_err().to_string(),
        format!("two tools are named `search`: {first} and {file}:{remote}")
    );
}

// TS-12
#[test]
fn an_agent_tells_every_duplicate() {
    let inner = |name| {
        ReactAgent::builder(name, ScriptedModel::new([]))
            .build()
            .unwrap()
    };
    let line = line!() + 1;
    let agents = [AgentTool::new(inner("a")), AgentTool::new(inner("a"))];

    let error = ReactAgent::builder("assistant", ScriptedModel::new([]))
        .tools([named("b"), named("b")])
        .tools(agents)
        .build()
        .unwrap_err();

    let duplicates = error.faults().iter().filter_map(|fault| match fault {
        BuildFault::Tools(ToolSetError::Duplicate { name, .. }) => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(duplicates.collect::<Vec<_>>(), ["b", "a"]);
    let place = format!("{}:{line}", file!());
    assert!(
        error.to_string().contains(&format!("{place} and {place}")),
        "{error}"
    );
}

#[test]
fn a_name_no_provider_takes_is_refused() {
    let long = "a".repeat(65);
    for name in ["", "get weather", "get.weather", "1st", "-a", "käse", &long] {
        let tool = FunctionTool::new(name.to_owned(), "A tool.", async || ());

        assert_eq!(
            ToolSet::new(tool).unwrap_err(),
            ToolSetError::InvalidName {
                name: name.to_owned()
            }
        );
    }
}

#[test]
fn a_name_that_a_provider_keeps_is_refused_of_tools_made_at_run_time_too() {
    let closure = FunctionTool::new("python", "Runs a program.", async || ());
    let schema = json!({"type": "object"});
    let from_schema = FunctionTool::from_schema("python", "Runs a program.", schema, async || ());

    for error in [
        ToolSet::new(closure).unwrap_err(),
        ToolSet::new(from_schema.unwrap()).unwrap_err(),
        set(&["run"]).rename("run", "python").unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "tool name `python` is kept by OpenAI for a tool of its own, and refused; take another, such as `run_python`"
        );
    }
}

#[test]
fn a_prefix_stands_before_every_name() {
    let set = set(&["read", "write"]).prefix("files_").unwrap();

    assert_eq!(
        set.names().collect::<Vec<_>>(),
        ["files_read", "files_write"]
    );
    assert!(set.get("files_read").is_some());
    assert!(set.get("read").is_none());
}

#[test]
fn a_prefix_that_makes_a_bad_name_names_both() {
    let long = "p".repeat(61);

    assert_eq!(
        set(&["ok", "read"]).prefix(&long).unwrap_err(),
        ToolSetError::InvalidRename {
            from: "read".to_owned(),
            to: format!("{long}read"),
        }
    );
    assert_eq!(
        set(&["read"]).prefix("my files.").unwrap_err().to_string(),
        "tool `read` cannot be renamed to `my files.read`: a name must fit \
         `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`"
    );
}

#[test]
fn one_tool_gets_another_name_and_keeps_its_place() {
    let set = set(&["a", "b", "c"]).rename("b", "x").unwrap();

    assert_eq!(set.names().collect::<Vec<_>>(), ["a", "x", "c"]);
}

#[test]
fn a_rename_that_cannot_be_is_refused() {
    let set = set(&["a", "b"]);

    assert_eq!(
        set.rename("c", "d").unwrap_err().to_string(),
        "no tool is named `c`; there are `a`, `b`"
    );
    assert_eq!(
        set.rename("a", "a b").unwrap_err(),
        ToolSetError::InvalidRename {
            from: "a".to_owned(),
            to: "a b".to_owned()
        }
    );
    assert!(matches!(
        set.rename("a", "b").unwrap_err(),
        ToolSetError::Duplicate { name, first, second } if name == "b" && first == second
    ));
    assert_eq!(set.names().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_choice_keeps_the_order() {
    let set = set(&["a", "b", "c"]).filter(|tool| tool.definition().name() != "b");

    assert_eq!(set.names().collect::<Vec<_>>(), ["a", "c"]);
    assert!(set.get("b").is_none());
    assert!(set.get("c").is_some());
}

// AU-2
#[test]
fn a_renamed_tool_is_the_same_but_for_its_name() {
    let set = ToolSet::new(tools![search])
        .unwrap()
        .prefix("wiki_")
        .unwrap();
    let tool = set.get("wiki_search").unwrap();

    assert_eq!(tool.definition().description(), "Finds articles.");
    assert_eq!(
        tool.definition().input_schema().const_text(),
        search::DEFINITION.input_schema().const_text()
    );
    assert_eq!(tool.definition().required_hosts().len(), 1);
    assert!(tool.metadata().is_return_direct());
    assert_eq!(tool.metadata().declared_effect(), Effect::Pure);
    assert!(tool.metadata().location().is_some());
}

#[tokio::test]
async fn a_renamed_tool_runs_under_its_new_name() {
    let model = ScriptedModel::new([calls("b_echo", json!({})), says("done")]);
    let one = ToolSet::new(answers("echo", "one"))
        .unwrap()
        .prefix("a_")
        .unwrap();
    let two = ToolSet::new(answers("echo", "two"))
        .unwrap()
        .prefix("b_")
        .unwrap();

    let agent = ReactAgent::builder("assistant", model.clone()).tools([one, two]);
    let output = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(offered(&model.requests()[0]), ["a_echo", "b_echo"]);
    assert_eq!(results(output.messages())[0].text(), "two");
}

// nm.1.1
#[test]
#[expect(non_snake_case, reason = "a name in another style")]
fn a_name_and_its_words_are_those_of_the_function() {
    #[tool(register = false)]
    async fn simpleMethod() {}

    assert_eq!(simpleMethod::DEFINITION.name(), "simpleMethod");
    assert_eq!(simpleMethod::DEFINITION.description(), "simple method");
}
