use agent_core::tool;

#[tool]
async fn join(words: &[str]) -> String {
    format!("{words:?}")
}

fn main() {}
