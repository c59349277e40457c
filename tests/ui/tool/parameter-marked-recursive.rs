use agent_core::tool;

#[tool]
async fn search(#[param(recursive)] text: String) -> String {
    text
}

fn main() {}
