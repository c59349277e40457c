//! An object whose tools stand in several `impl` blocks.

use std::sync::Arc;

use agent_core::tool::{IntoTools, ToolProvider};
use agent_core::{ToolCallback, tool};

use super::told;

struct Station {
    place: &'static str,
}

mod forecasts {
    use agent_core::tool;

    #[tool(block = 3)]
    impl super::Station {
        #[tool]
        async fn forecast(&self) -> String {
            format!("rain in {}", self.place)
        }
    }
}

#[tool(block = 2)]
impl Station {
    #[tool]
    fn place(&self) -> &str {
        self.place
    }
}

#[tool]
impl Station {
    #[tool]
    async fn weather(&self) -> &str {
        "sun"
    }
}

fn names(tools: &[Arc<dyn ToolCallback>]) -> Vec<&str> {
    tools.iter().map(|tool| tool.definition().name()).collect()
}

#[test]
fn the_tools_of_all_blocks_come_in_the_order_of_their_numbers() {
    let station = || Station { place: "Oslo" };

    let tools = station().into_tools();
    assert_eq!(names(&tools), ["weather", "place", "forecast"]);
    let tools = Arc::new(station()).callbacks();
    assert_eq!(names(&tools), ["weather", "place", "forecast"]);
}

#[tokio::test]
async fn they_share_the_object() {
    let tools = Station { place: "Oslo" }.into_tools();

    assert_eq!(told(Arc::clone(&tools[1]), "").await, "Oslo");
    assert_eq!(told(Arc::clone(&tools[2]), "").await, "rain in Oslo");
}

mod in_conditions {
    use agent_core::tool;

    pub(super) struct Station;

    #[tool]
    impl Station {
        #[tool]
        async fn weather(&self) {}
    }

    #[cfg(any())]
    #[tool(block = 2)]
    impl Station {
        #[tool]
        async fn gone(&self) {}
    }
}

#[test]
fn a_block_that_its_condition_takes_away_brings_nothing() {
    assert_eq!(names(&in_conditions::Station.into_tools()), ["weather"]);
}
