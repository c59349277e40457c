use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Folder {
    files: Vec<File>,
}

#[derive(ToolSchema)]
struct File {
    folder: Option<Box<Folder>>,
}

fn main() {
    let _ = Folder::SCHEMA;
}
