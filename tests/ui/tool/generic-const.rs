use agent_core::tool;

#[tool]
async fn sum<const N: usize>(values: [u8; N]) -> u8 {
    values.iter().sum()
}

fn main() {}
