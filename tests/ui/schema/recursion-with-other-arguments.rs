use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Nest<T> {
    value: T,
    inner: Option<Box<Nest<Vec<T>>>>,
}

fn main() {}
