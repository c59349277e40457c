use agent_core::tool;

#[tool]
async fn read(from: *const u8) -> bool {
    from.is_null()
}

fn main() {}
