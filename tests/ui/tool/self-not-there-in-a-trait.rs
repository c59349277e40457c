use agent_core::tool;

struct Station;

trait Weather {
    fn weather(city: String) -> String;
}

impl Weather for Station {
    #[tool]
    fn weather(city: String) -> String {
        city
    }
}

fn main() {}
