use agent_core::tool;

#[tool]
async fn size(größe: u8) -> u8 {
    größe
}

fn main() {}
