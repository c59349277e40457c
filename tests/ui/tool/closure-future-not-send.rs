use std::rc::Rc;

use agent_core::tool::FunctionTool;

fn main() {
    let _ = FunctionTool::new("wait", "Waits.", async || {
        let shared = Rc::new(1);
        std::future::ready(()).await;
        *shared
    });
}
