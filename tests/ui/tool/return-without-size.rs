use agent_core::tool;

#[tool]
async fn get_weather(city: &str) -> str {
    *city
}

fn main() {}
