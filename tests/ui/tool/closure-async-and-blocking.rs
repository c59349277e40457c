use agent_core::tool::FunctionTool;

fn main() {
    let _ = FunctionTool::blocking("now", "The time.", async || "12:30");
}
