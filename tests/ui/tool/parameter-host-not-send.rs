use std::cell::RefCell;

use agent_core::{Host, tool};

#[tool]
async fn count(value: Host<RefCell<u8>>) -> u8 {
    *value.borrow()
}

fn main() {}
