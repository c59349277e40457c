use agent_core::tool;

#[tool(strict, open)]
fn show(city: String) -> usize {
    city.len()
}

fn main() {}
