use agent_core::tool;

struct Broken;

#[tool]
async fn get_weather() -> Result<String, Broken> {
    Err(Broken)
}

fn main() {}
