use agent_core::tool;

#[tool]
async fn read(values: Vec<_>) -> usize {
    values.len()
}

fn main() {}
