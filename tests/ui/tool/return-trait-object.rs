use agent_core::tool;
use std::fmt::Display;

#[tool]
async fn get_weather(city: String) -> dyn Display {
    city
}

fn main() {}
