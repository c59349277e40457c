use agent_core::tool;

#[tool]
async fn sum(values: [i32]) -> usize {
    values.len()
}

fn main() {}
