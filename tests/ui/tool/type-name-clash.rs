mod search {
    #[agent_core::tool]
    pub async fn search(text: String) -> String {
        text
    }
}

use search::search;

fn main() {
    let _ = search("Oslo".to_owned());
}
