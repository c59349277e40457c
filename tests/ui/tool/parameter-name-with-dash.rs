use agent_core::tool;

#[tool]
async fn size(#[param(rename = "how-big")] size: u8) -> u8 {
    size
}

fn main() {}
