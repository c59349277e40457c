use agent_core::tool;

#[tool]
async fn sum(rows: Vec<[u8]>) -> usize {
    rows.len()
}

fn main() {}
