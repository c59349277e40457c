use agent_core::tool;

#[derive(serde::Deserialize)]
struct Filter {
    text: String,
}

#[tool]
async fn search(#[param(schemars)] filter: Filter) -> String {
    filter.text
}

fn main() {}
