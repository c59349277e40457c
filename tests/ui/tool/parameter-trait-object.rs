use agent_core::tool;

#[tool]
async fn show(value: &dyn std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn main() {}
