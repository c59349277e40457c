use agent_core::tool;

#[tool]
async fn search(#[param(like(u8))] text: String) -> String {
    text
}

fn main() {}
