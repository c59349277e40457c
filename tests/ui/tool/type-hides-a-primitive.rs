use agent_core::tool;

#[tool]
async fn char(code: u8) -> String {
    code.to_string()
}

#[tool]
async fn show(letter: char) -> String {
    letter.to_string()
}

fn main() {}
