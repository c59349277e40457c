use agent_core::tool::FunctionTool;

struct NoCity;

fn main() {
    let _ = FunctionTool::new("weather", "Weather.", async || Err::<u8, _>(NoCity));
}
