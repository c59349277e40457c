use agent_core::tool::FunctionTool;

struct City;

fn main() {
    let _ = FunctionTool::new("where", "A place.", async |_: City| "here");
}
