use agent_core::tool;

#[tool(schemars = "yes")]
async fn get_weather(city: String) -> String {
    city
}

fn main() {}
