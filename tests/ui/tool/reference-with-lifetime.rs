use agent_core::tool;

#[tool]
async fn shout(text: &'static str) -> String {
    text.to_uppercase()
}

fn main() {}
