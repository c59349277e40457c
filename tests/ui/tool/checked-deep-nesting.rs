use agent_core::tool;

type Deep = Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<u8>>>>>>>>>>;

#[tool]
fn show(values: Deep) -> usize {
    values.len()
}

fn main() {}
