use agent_core::tool;

#[tool]
async fn first<'a>(text: &'a str) -> &'a str {
    text
}

fn main() {}
