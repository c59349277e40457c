use agent_core::tool::FunctionTool;

#[derive(Debug, serde::Serialize)]
struct NoCity;

impl std::fmt::Display for NoCity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no such city")
    }
}

impl std::error::Error for NoCity {}

fn main() {
    let _ = FunctionTool::new("weather", "Weather.", async || Err::<u8, _>(NoCity));
}
