use agent_core::{tool, tools};

#[tool(nmae = "weather")]
async fn get_weather(city: String) -> String {
    city
}

#[tool(type = SearchTool, nmae = "search")]
async fn search(text: String) -> String {
    text
}

fn main() {
    let _ = get_weather("Oslo".to_owned());
    let _ = tools![get_weather, SearchTool];
}
