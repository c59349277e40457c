use agent_core::tool;

#[tool]
async fn get_weather(#[param(describe = "City name")] city: String) -> String {
    city
}

fn main() {}
