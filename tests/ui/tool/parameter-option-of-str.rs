use agent_core::tool;

#[tool]
async fn shout(text: Option<str>) -> usize {
    text.map_or(0, |text| text.len())
}

fn main() {}
