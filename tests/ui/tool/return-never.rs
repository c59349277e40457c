use agent_core::tool;

#[tool]
async fn serve() -> ! {
    loop {
        std::future::ready(()).await;
    }
}

fn main() {}
