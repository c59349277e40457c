use agent_core::tool;

#[tool]
async fn shout(text: Option<&str>) -> String {
    text.unwrap_or("nothing").to_uppercase()
}

fn main() {}
