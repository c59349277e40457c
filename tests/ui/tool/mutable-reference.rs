use agent_core::tool;

#[tool]
async fn clear(text: &mut String) {
    text.clear();
}

fn main() {}
