use agent_core::tool;

struct Weather {}

#[tool(type = Weather)]
async fn get_weather(city: String) -> String {
    city
}

fn main() {}
