use agent_core::tool;

#[tool]
async fn get_weather(#[param] city: String) -> String {
    city
}

fn main() {}
