//! What the registry finds. A binary of its own, because it holds every tool linked into it.

// The crate is linked only if it is named somewhere.
use agent_tests_linked as _;

use agent_core::{ToolSet, tool};

/// The last by name, the first in the file.
#[tool]
async fn zebra() {}

/// Somewhere in the middle.
#[tool(name = "mole")]
fn named_by_the_attribute() {}

/// For `tools![]` only.
#[tool(register = false)]
async fn kept_out() {}

// A14
#[test]
fn all_linked_tools_are_found_in_the_order_of_their_names() {
    let set = ToolSet::registered().unwrap();

    let names: Vec<&str> = set.iter().map(|tool| tool.definition().name()).collect();
    assert_eq!(names, ["area", "hidden", "mole", "zebra"]);
}

// A14
#[test]
fn a_tool_kept_out_of_the_registry_is_still_a_tool() {
    let set = ToolSet::registered().unwrap();

    assert!(set.get("kept_out").is_none());
    assert_eq!(kept_out::callback().definition().name(), "kept_out");
}

// A14
// pitfall: what the library says of itself stands in place of the user's
#[test]
fn a_tool_knows_where_it_was_written() {
    let (file, line) = zebra::callback().metadata().location().unwrap();

    assert!(file.ends_with("main.rs"), "{file}");
    assert_eq!(line, 9);
}
