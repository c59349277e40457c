use agent_core::tool;

struct City {
    name: String,
}

#[tool]
async fn get_weather(city: &City) -> String {
    city.name.clone()
}

fn main() {}
