use std::collections::BTreeMap;

use agent_core::tool;

#[tool(args)]
fn show(first: BTreeMap<String, u8>, second: BTreeMap<String, u8>) -> usize {
    first.len() + second.len()
}

fn main() {}
