use agent_core::tool::FunctionTool;

fn main() {
    let _ = FunctionTool::new("where", "A place.", |city| async move { "here" });
}
