use std::collections::BTreeMap;

use agent_core::tool;

#[tool(args)]
fn show(#[param(default)] all: BTreeMap<String, u8>) -> usize {
    all.len()
}

fn main() {}
