use agent_core::tool::FunctionTool;

fn main() {
    let _ = FunctionTool::new("now", "The time.", || "12:30");
}
