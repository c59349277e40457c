use agent_core::tool;

struct Station;

impl Station {
    #[tool]
    fn open(city: String) -> Option<Self> {
        (!city.is_empty()).then_some(Self)
    }
}

fn main() {}
