use agent_core::tools;

async fn get_weather() {}

fn main() {
    let _ = tools![get_weather];
}
