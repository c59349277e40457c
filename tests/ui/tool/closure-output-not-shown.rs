use agent_core::tool::FunctionTool;

struct Weather;

fn main() {
    let _ = FunctionTool::new("weather", "Weather.", async || Weather);
}
