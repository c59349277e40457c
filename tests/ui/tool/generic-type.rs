use agent_core::tool;

#[tool]
async fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

fn main() {}
