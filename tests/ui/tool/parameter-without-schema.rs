use agent_core::tool;

#[derive(serde::Deserialize)]
struct Filter {
    text: String,
}

#[tool]
async fn search(filter: Filter) -> String {
    filter.text
}

fn main() {}
