use agent_core::ToolSchema;

#[derive(serde::Deserialize, ToolSchema)]
struct Guest {
    #[param(rename = "fullName")]
    name: String,
}

#[agent_core::tool]
async fn invite(guest: Guest) -> String {
    guest.name
}

fn main() {}
