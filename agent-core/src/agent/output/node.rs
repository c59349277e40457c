//! Holds an answer against its form, and asks again.

use super::{FINAL_ANSWER, Output, OutputError, OutputMode, Way, tries};
use crate::agent::error::Failure;
use crate::agent::scope::RunScope;
use crate::boxed::{BoxError, BoxFuture};
use crate::graph::{NodeAction, NodeContext, NodeOutput, State, StateUpdate};
use crate::message::{ContentPart, Message, MessageBody};
use crate::model::FinishReason;

/// The node that takes answers.
pub(in crate::agent) const OUTPUT: &str = "output";

#[derive(Debug)]
pub(in crate::agent) struct OutputNode;

impl NodeAction for OutputNode {
    fn run<'a>(
        &'a self,
        state: State,
        context: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        Box::pin(async move {
            let scope = RunScope::of(context)?;
            let exit = scope.config.exit.as_str();
            let (Some(output), Some(way)) = (&scope.config.output, scope.way) else {
                return Ok(NodeOutput::default().goto(exit));
            };
            let Some(reply) = state.messages().last() else {
                return Ok(NodeOutput::default().goto(exit));
            };
            let text = reply.text();
            let error = match output.check.accept(&text) {
                Ok(json) => {
                    scope.record(|record| record.answer = Some(json));
                    return Ok(NodeOutput::default().goto(exit));
                }
                Err(error) => error,
            };
            // An answer that came before the form was asked for is no try.
            let is_try = scope.record(|record| std::mem::replace(&mut record.asked_for_form, true))
                || !scope.has_other_tools();
            if is_try && scope.counts_misfit(output.retries) {
                return Ok(scope.fail(Failure::Output(error), StateUpdate::new()));
            }
            tracing::debug!(
                agent = &*scope.config.name,
                "the answer is asked for in its form"
            );
            let cut = scope.record(|record| record.finish_reason == Some(FinishReason::Length));
            let again = ContentPart::Text(again(output, way, &error, is_try, cut));
            let again = Message::with_id(tries::id(reply, is_try), MessageBody::User(vec![again]));
            let update = StateUpdate::new().message(again);
            Ok(NodeOutput::from(update).goto(scope.config.entry.as_str()))
        })
    }
}

/// What the model is told about an answer that is none.
fn again(output: &Output, way: Way, error: &OutputError, is_try: bool, cut: bool) -> String {
    let mut text = String::new();
    if is_try {
        let cut = if cut {
            " It was cut at the limit of tokens: be brief."
        } else {
            ""
        };
        text = format!("Your answer does not fit: {}.{cut} ", error.fault);
    }
    text + &match way.mode {
        OutputMode::Tool => format!("Give your final answer by calling `{FINAL_ANSWER}`."),
        OutputMode::Native if !is_try && !way.is_told => {
            "Give your final answer now, as JSON.".to_owned()
        }
        _ => output.in_words.clone(),
    }
}
