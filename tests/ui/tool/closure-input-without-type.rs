use agent_core::tool::FunctionTool;

fn main() {
    let _ = FunctionTool::new("where", "A place.", async |city| "here");
}
