use agent_core::tool;

#[tool]
async fn show(value: impl ToString) -> String {
    value.to_string()
}

fn main() {}
