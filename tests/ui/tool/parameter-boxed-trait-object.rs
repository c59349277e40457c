use agent_core::tool;

#[tool]
async fn show(value: Box<dyn std::fmt::Debug>) -> String {
    format!("{value:?}")
}

fn main() {}
