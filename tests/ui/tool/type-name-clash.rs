mod search {
    #[agent_core::tool]
    pub async fn search(text: String) -> String {
        text
    }
}

use search::search;

fn main() {}
