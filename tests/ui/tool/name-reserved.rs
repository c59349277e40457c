use agent_core::tool;

/// Runs a program.
#[tool]
async fn python(program: String) -> String {
    program
}

fn main() {}
