use agent_core::tool;

#[tool(crate = nowhere)]
async fn get_weather(city: String) -> String {
    city
}

fn main() {}
