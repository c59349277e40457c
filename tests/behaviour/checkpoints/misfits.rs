//! A thread whose tools wrote what does not fit its state.

use agent_core::ToolContext;
use agent_core::graph::KeyStrategy;
use agent_core::graph::checkpoint::MemorySaver;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{AgentError, ReactAgent, ToolError};
use agent_tests::runs::result_texts;
use agent_tests::tools::{answers, tool};
use serde_json::json;

// C10, HI-8
#[tokio::test]
async fn a_new_message_goes_on_with_the_results_and_without_the_update_that_did_not_fit() {
    for side_by_side in [false, true] {
        let writes = tool("writes", (), async |(), _, context: ToolContext| {
            context.update("total", "no object")?;
            Ok::<_, ToolError>("wrote")
        });
        let turn = calls("ok", json!({})).with_id("c1");
        let turn = turn.and_calls("writes", json!({})).with_id("c2");
        let agent = ReactAgent::builder("assistant", ScriptedModel::new([turn, says("Well.")]))
            .tools([answers("ok", "a"), writes])
            .key("total", KeyStrategy::Merge)
            .saver(MemorySaver::new())
            .parallel_tool_execution(side_by_side)
            .build()
            .unwrap();
        let total = json!({"a": 1});

        let first = agent.run("Go").thread("t1").state("total", total.clone());
        let error = first.await.unwrap_err();
        let run = agent.run("And now?").thread("t1").await.unwrap();

        assert!(matches!(error, AgentError::Graph { .. }), "{error:?}");
        assert_eq!(run.text(), "Well.");
        let texts = [("c1", "a"), ("c2", "wrote")].map(|(id, text)| (id.into(), text.into()));
        assert_eq!(result_texts(run.messages()), texts);
        assert_eq!(run.state().value("total"), Some(&total));
    }
}
