use std::cell::Cell;

use agent_core::{Host, tool};

#[tool]
fn count(value: Host<Cell<u8>>) -> u8 {
    value.get()
}

fn main() {}
