use agent_core::ToolSchema;

struct Name;

#[derive(ToolSchema)]
struct Page<T> {
    items: Vec<T>,
}

#[derive(ToolSchema)]
struct Answer {
    page: Page<Name>,
}

fn main() {}
