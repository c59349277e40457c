use agent_core::tool;

#[tool(name = "get weather", timeout = "soon")]
unsafe fn get_weather((x, y): (f64, f64), text: Option<&str>) -> f64 {
    x + y + text.map_or(0.0, |_| 1.0)
}

fn main() {}
