use agent_core::tool;

#[tool]
async fn route(from: String, #[param(rename = "from")] to: String) -> String {
    from + &to
}

fn main() {}
