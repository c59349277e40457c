use agent_core::tool;

#[tool]
async fn get_weather(#[param(unit = "km")] city: String) -> String {
    city
}

fn main() {}
