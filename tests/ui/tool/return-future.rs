use agent_core::tool;

#[tool]
fn get_weather() -> impl Future<Output = String> {
    async { String::new() }
}

fn main() {}
