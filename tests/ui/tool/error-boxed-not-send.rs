use agent_core::tool;

#[tool]
fn get_weather() -> Result<String, Box<dyn std::error::Error>> {
    Ok(String::new())
}

fn main() {}
