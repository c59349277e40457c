use agent_core::tool;

trait Weather {
    fn weather(&self) -> u8;
}

struct Station;

#[tool]
impl Weather for Station {
    #[tool]
    fn weather(&self) -> u8 {
        1
    }
}

fn main() {
    let _ = Station.weather();
}
