//! A tool whose result is the answer, alone and beside a normal tool.
//!
//! ```sh
//! cargo run -q -p agent-examples --example return_direct
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{ReactAgent, RunOutput, tool, tools};
use serde_json::json;

/// The invoice of an order, word for word.
#[tool(return_direct)]
async fn invoice(
    /// Number of the order.
    order: u32,
) -> String {
    format!("Invoice for order {order}: 2 chairs, 118.00")
}

/// Where a parcel is.
#[tool]
async fn track(
    /// Number of the order.
    order: u32,
) -> String {
    format!("order {order} is in Bergen")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Alone, the result is the answer, and the model is not asked again.
    let alone = ScriptedModel::new([calls("invoice", json!({"order": 7}))]);
    let output = agent(&alone)?
        .run("The invoice of order 7, please.")
        .await?;
    show("alone", &output, &alone);

    // Beside a normal tool every result goes back to the model, so that none is lost.
    let mixed = ScriptedModel::new([
        calls("invoice", json!({"order": 7})).and_calls("track", json!({"order": 7})),
        says("The invoice is 118.00; the parcel is in Bergen."),
    ]);
    let output = agent(&mixed)?.run("Invoice and parcel of order 7?").await?;
    show("mixed", &output, &mixed);
    Ok(())
}

fn agent(model: &ScriptedModel) -> Result<ReactAgent, Box<dyn Error>> {
    let agent = ReactAgent::builder("shop", model.clone())
        .tools(tools![invoice, track])
        .build()?;
    Ok(agent)
}

fn show(title: &str, output: &RunOutput, model: &ScriptedModel) {
    println!("{title}:");
    println!("  answer         {}", output.text());
    if let Some(reason) = output.finish_reason() {
        println!("  finish reason  {reason}");
    }
    println!("  model calls    {}", model.requests().len());
}
