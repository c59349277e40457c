use agent_core::tool;

struct Weather;

#[tool]
async fn get_weather() -> Weather {
    Weather
}

fn main() {}
