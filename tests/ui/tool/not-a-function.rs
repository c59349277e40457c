use agent_core::tool;

#[tool]
struct Weather {
    city: String,
}

fn main() {}
