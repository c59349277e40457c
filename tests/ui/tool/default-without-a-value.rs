use agent_core::tool;

#[tool]
async fn get_weather(#[param(default = )] city: String) -> String {
    city
}

fn main() {}
