use agent_core::tool;

#[tool(args)]
fn show(values: Vec<u8>) -> usize {
    values.len()
}

fn main() {}
