use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Page<T: Iterator> {
    items: Vec<T::Item>,
}

fn main() {}
